import { FatalError } from "../../core/errors.js";
import type { SinkPosition } from "../types.js";

/** What a table holds of the run that goes on in it. */
interface HeldRows {
  readonly rows: number;
  /** The database's own checkpoint of the run, or null. */
  readonly note: string | null;
}

/**
 * Makes sure that a table holds what an interrupted run wrote to it: the state folder's checkpoint
 * may be older than the database's, never newer.
 *
 * @param display what the table is called in messages
 * @throws FatalError `output_table_differs`
 */
export function mustMatch(
  display: string,
  resume: SinkPosition | null,
  { rows, note }: HeldRows,
): void {
  const expected = resume?.rows ?? 0;
  if (rows === expected || (note !== null && rows > expected)) return;
  throw new FatalError(
    "output_table_differs",
    `${display} holds ${rows} rows of the interrupted run where ${expected} were written`,
    { hint: "start anew with --restart" },
  );
}
