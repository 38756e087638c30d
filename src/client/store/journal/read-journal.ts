import { join } from "node:path";
import type { LookupRecord } from "../../../core/attempt.js";
import { decodeRecord, type Keyed } from "../finding-record.js";
import type { LocatedRecord } from "./framed-record.js";
import { journalFault } from "./journal-fault.js";
import { RecordLog } from "./record-log.js";

export interface ReadJournalOptions {
  /** Folder of the journal. Created with owner-only permissions if missing. */
  readonly folder: string;
  /**
   * Bytes that an earlier session made durable (its `durableBytes`); fewer is damage. @default 0
   */
  readonly durableBytes?: number;
  /** Called when records of an earlier session are damaged or missing. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Reads a journal that no run writes any more: its records in order, with results as received.
 *
 * @throws FatalError `journal_*`
 */
export async function* readJournal(
  options: ReadJournalOptions,
): AsyncGenerator<readonly Keyed<LookupRecord>[]> {
  let log: RecordLog | null = null;
  try {
    log = new RecordLog(options.folder);
    for await (const records of intactRecords(log, options)) {
      yield records.map(({ record }) => decodeRecord(record, { asReceived: true }));
    }
  } catch (error) {
    throw journalFault(options.folder, "read", error);
  } finally {
    log?.close();
  }
}

/** The intact records of earlier sessions, in order. Damaged ones are a warning. */
export async function* intactRecords(
  log: RecordLog,
  { folder, durableBytes = 0, onWarning }: ReadJournalOptions,
): AsyncGenerator<readonly LocatedRecord[]> {
  const gaps = { count: 0, from: 0, to: 0 };
  const onGap = (from: number, to: number): void => {
    if (gaps.count++ === 0) Object.assign(gaps, { from, to });
  };
  yield* log.replay(durableBytes, onGap);
  if (gaps.count === 0) return;
  const more = gaps.count === 1 ? "" : `, and in ${gaps.count - 1} more places`;
  onWarning?.(
    `${join(folder, "records")} is damaged between byte ${gaps.from} and byte ${gaps.to}${more}: lookups recorded there may be repeated`,
  );
}
