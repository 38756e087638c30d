import { FatalError } from "../../core/errors.js";
import { RowCounter } from "../../core/row.js";
import type { RecordCounter } from "./types.js";

/** Status and verdict of an output row, not yet validated. */
interface RowOutcome {
  readonly status: unknown;
  readonly verdict: unknown;
}

/**
 * Counts rows by status and verdict, one per record.
 *
 * @param outcomeOf reads a record; null for records that aren't rows, such as the header
 */
export function countRows(
  outcomeOf: (record: Buffer, row: number) => RowOutcome | null,
): RecordCounter {
  const rows = new RowCounter();
  return {
    add(record) {
      const outcome = outcomeOf(record, rows.rows + 1);
      const fault = outcome === null ? null : rows.count(outcome.status, outcome.verdict);
      if (fault === null) return;
      throw new FatalError("output_corrupt", `row ${rows.rows} of the output has ${fault}`);
    },
    counted: () => rows.found(),
  };
}
