import { counted } from "../../../core/text/quantity.js";
import type { InputReading } from "../types.js";

/** Tells which lines are not read; null for none. */
export function skippedNotice(
  reading: Pick<InputReading, "skippedLines" | "commentLines" | "skippedText" | "rule">,
  input: string | null = null,
): string | null {
  const { skippedText = "" } = reading;
  const skippedLines = linesSkipped(reading);
  if (skippedLines === 0) return null;
  const where = input === null ? "" : ` of ${input}`;
  return `skipping ${counted(skippedLines, "line")} before the first record${where}: ${skippedText}`;
}

/** The lines before the first record that belong to no row, with the rule below the header. */
export function linesSkipped({
  skippedLines = 0,
  commentLines = 0,
  rule: below,
}: Pick<InputReading, "skippedLines" | "commentLines" | "rule">): number {
  return skippedLines + commentLines + (below === undefined ? 0 : 1);
}

/** The text of skipped lines, for a notice. */
export function textOfLines(lines: readonly string[]): string {
  const text = lines.map((line) => line.trim()).join(" / ");
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

const longestText = 120;
