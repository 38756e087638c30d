import { FatalError } from "../core/errors.js";
import { RowCounter } from "../core/row-counter.js";
import type { CountOptions, RecordCounter } from "./types.js";

/** What a row of an output says of itself. */
export interface RowFacts {
  readonly status: unknown;
  /** Null for none. */
  readonly verdict: unknown;
}

/**
 * Counts rows by status and verdict, one a record.
 *
 * @param factsOf reads a record; null for one that is no row, such as a header
 */
export function countRows(
  { hasVerdicts }: Pick<CountOptions, "hasVerdicts">,
  factsOf: (record: Buffer, row: number) => RowFacts | null,
): RecordCounter {
  const rows = new RowCounter(hasVerdicts);
  return {
    add(record) {
      const facts = factsOf(record, rows.rows + 1);
      const fault = facts === null ? null : rows.count(facts.status, facts.verdict);
      if (fault === null) return;
      throw new FatalError("output_corrupt", `row ${rows.rows} of the output has ${fault}`);
    },
    counted: () => rows.found(),
  };
}
