import { counted } from "../../core/text/quantity.js";
import type { InputReading } from "../types.js";

/** Tells which lines are not read; null for none. */
export function skippedNotice(
  reading: Pick<InputReading, "skippedLines" | "skippedText" | "rule">,
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
  rule: below,
}: Pick<InputReading, "skippedLines" | "rule">): number {
  return skippedLines + (below === undefined ? 0 : 1);
}
