import { shownColumn } from "../sources/column-errors.js";
import type { InputReading } from "../sources/types.js";
import type { Tally } from "./tally.js";
import type { EnrichJob } from "./types.js";

/** Share of rows without anything like an indicator from which the column is likely a wrong one. */
const nearlyAll = 0.9;

/** What cells hold that were never meant as indicators. */
const noIndicator = ["empty", "text", "control_character", "not_text", "hex_length"];

/** A run that found next to nothing to look up most likely read the wrong column: it says so. */
export function warnUnlikelyColumn(
  job: Pick<EnrichJob, "onWarning">,
  { format, item }: InputReading,
  tally: Tally,
): void {
  const { unsupported } = tally.snapshot();
  const idle = noIndicator.reduce((sum, code) => sum + (unsupported[code] ?? 0), 0);
  if (idle === 0 || idle < tally.rows * nearlyAll) return;
  const [where, remedy] =
    format === "text"
      ? [
          "have no indicator",
          "the input was read as one item per line; --from names another format",
        ]
      : [`have no indicator in the column ${shownColumn(item)}`, "--item-column names another"];
  const message = `${idle} of ${tally.rows} rows ${where}; ${remedy}`;
  tally.warning(message);
  job.onWarning?.(message);
}
