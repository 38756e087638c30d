/**
 * Ending of an output whose run had too many failed lookups: its rows are kept under this name, and
 * the output of an earlier run stays as it is.
 */
export const failedSuffix = ".failed";

/** A path without that ending: format and compression are in what precedes it. */
export function withoutFailed(path: string): string {
  return path.endsWith(failedSuffix) ? path.slice(0, -failedSuffix.length) : path;
}
