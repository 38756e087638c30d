export const dataSetManifest = "_manifest.json";

export function manifestPath(base: string): string {
  return base.endsWith("/") ? base + dataSetManifest : `${base}.manifest.json`;
}

/** Appended to the names of a retry in a table, which must not be those of a run into it. */
export const retrySuffix = ".retry";

/**
 * Suffix for the rows of a run with too many failed lookups. The output of an earlier run stays as
 * it is.
 */
export const failedSuffix = ".failed";

/** A path without that suffix, so that its extension tells format and compression. */
export function withoutFailed(path: string): string {
  return path.endsWith(failedSuffix) ? path.slice(0, -failedSuffix.length) : path;
}
