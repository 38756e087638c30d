import { UsageError } from "../core/errors.js";
import { csvLines, ndjsonLines } from "./diff/change-lines.js";
import type { DiffNames, OutputDiff } from "./diff/diff-outputs.js";
import { diffPage } from "./page/diff-page.js";

/** Formats of a file of changes. */
const diffFormats = ["csv", "ndjson", "html"] as const;

export type DiffFormat = (typeof diffFormats)[number];

/**
 * The format that a file name asks for.
 *
 * @throws UsageError `unknown_output`
 */
export function diffFormatOf(path: string): DiffFormat {
  const format = diffFormats.find((known) => path.toLowerCase().endsWith(`.${known}`));
  if (format !== undefined) return format;
  throw new UsageError("unknown_output", `diff cannot write ${path}`, {
    hint: `name a file that ends in .${diffFormats.join(", .")}`,
  });
}

/** Every change in a format, worst first, piece by piece. */
export function diffLines(
  format: DiffFormat,
  diff: OutputDiff,
  names: DiffNames,
): Iterable<string> {
  if (format === "csv") return csvLines(diff.changes());
  return format === "ndjson" ? ndjsonLines(diff.changes()) : [diffPage(diff, names)];
}
