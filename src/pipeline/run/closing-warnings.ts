import { shownColumn } from "../../formats/columns/find-column.js";
import type { InputReading } from "../../formats/types.js";
import type { OpenedSource } from "../../inputs/types.js";
import type { Tally } from "./tally.js";
import type { EnrichJob } from "../types.js";

/** Share of rows without anything like an indicator from which the column is likely a wrong one. */
const nearlyAll = 0.9;

/** What cells hold that were never meant as indicators. */
const noIndicator = ["empty", "text", "control_character", "not_text", "hex_length"];

/** A message and how often it applies. */
export type CountedWarning = readonly [message: string, count: number];

/**
 * What is to be said of a run as a whole, once its rows are written: of the input, of the service's
 * address, of the item column. A person is told of the last two at once.
 */
export function closingWarnings(
  job: Pick<EnrichJob, "onWarning">,
  source: Pick<OpenedSource, "warnings" | "reading">,
  addressWarnings: readonly string[],
  tally: Tally,
): readonly CountedWarning[] {
  const unlikely = unlikelyColumn(source.reading, tally);
  const messages = unlikely === null ? addressWarnings : [...addressWarnings, unlikely];
  for (const message of messages) job.onWarning?.(message);
  return [...source.warnings, ...messages.map((message): CountedWarning => [message, 1])];
}

/** A run that found next to nothing to look up most likely read the wrong column. */
function unlikelyColumn({ format, item }: InputReading, tally: Tally): string | null {
  const { unsupported } = tally.snapshot();
  const idle = noIndicator.reduce((sum, code) => sum + (unsupported[code] ?? 0), 0);
  if (idle === 0 || idle < tally.rows * nearlyAll) return null;
  const [where, remedy] =
    format === "text"
      ? [
          "have no indicator",
          "the input was read as one item per line; --from names another format",
        ]
      : [`have no indicator in the column ${shownColumn(item)}`, "--item-column names another"];
  return `${idle} of ${tally.rows} rows ${where}; ${remedy}`;
}
