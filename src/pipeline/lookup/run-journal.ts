import { existsSync } from "node:fs";
import type { LookupRecord } from "../../core/attempt.js";
import { endpointOf } from "../../lookup/item-key.js";
import { openJournal } from "../../store/journal/journal.js";
import { MemoryStore } from "../../store/memory-store.js";
import type { LookupStore } from "../../store/store.js";
import type { AssembleOptions } from "./assemble-lookup.js";
import type { EnrichJob } from "../types.js";

/** The journal of a run. */
export interface RunJournal {
  readonly store: LookupStore;
  /** The same store; what goes in through it is counted in the run's tally. */
  readonly counting: LookupStore;
  /** An earlier part of the run left something in it. */
  readonly isResumed: boolean;
}

/**
 * Opens a run's journal and counts what an earlier part of the run left there.
 *
 * @throws FatalError `journal_*`
 */
export async function openRunJournal(
  { onWarning }: EnrichJob,
  { journalPath, before, asReceived, tally }: AssembleOptions,
): Promise<RunJournal> {
  // What the journal takes is counted; a resumed run counts it again from there.
  const count = (key: string, record: LookupRecord): void => {
    if (record.origin !== undefined) tally.journalled(endpointOf(key), record);
  };
  const isResumed = journalPath !== null && existsSync(journalPath);
  const store =
    journalPath === null
      ? new MemoryStore()
      : await openJournal({
          folder: journalPath,
          durableBytes: before?.journalBytes ?? 0,
          asReceived,
          onReplay(key, record) {
            for (const outcome of record.origin?.outcomes ?? []) {
              tally.request(endpointOf(key), outcome);
            }
            count(key, record);
          },
          onWarning,
        });
  const counting: LookupStore = {
    get: (key) => store.get(key),
    put(key, record) {
      count(key, record);
      return store.put(key, record);
    },
    sync: () => store.sync(),
    close: () => store.close(),
  };
  return { store, counting, isResumed };
}
