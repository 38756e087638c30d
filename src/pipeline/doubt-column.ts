import type { Tally } from "./tally.js";
import type { EnrichJob } from "./types.js";

/** A column that was not named by anybody and holds hardly an item is the wrong one, most likely. */
export function doubtColumn(job: EnrichJob, column: string, tally: Tally): void {
  const { unsupported } = tally.statuses;
  if (job.settings.itemColumn !== undefined || unsupported * 2 <= tally.rows) return;
  const message = `${unsupported} of ${tally.rows} rows have no item in the column ${JSON.stringify(column)}, which was chosen by its name; --item-column names another`;
  tally.warning(message);
  job.onWarning?.(message);
}
