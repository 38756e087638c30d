import { existsSync } from "node:fs";
import type { LookupRecord } from "../../core/attempt.js";
import { endpointOf } from "../../lookup/item-key.js";
import { openJournal } from "../../store/journal/journal.js";
import { MemoryStore } from "../../store/memory-store.js";
import type { LookupStore } from "../../store/store.js";
import type { AssembleOptions } from "./assemble-lookup.js";
import type { Tally } from "../run/tally.js";
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
  { journalPath, journalBytes = 0, asReceived = false, tally }: AssembleOptions,
): Promise<RunJournal> {
  if (journalPath === null) {
    const store = new MemoryStore();
    return { store, counting: countingStore(store, tally), isResumed: false };
  }
  const isResumed = existsSync(journalPath);
  const store = await openJournal({
    folder: journalPath,
    durableBytes: journalBytes,
    asReceived,
    onReplay: replayInto(tally),
    onWarning,
  });
  return { store, counting: countingStore(store, tally), isResumed };
}

/** Counts what the journal takes: a resumed run counts it again from there. */
function countingStore(store: LookupStore, tally: Tally): LookupStore {
  return {
    get: (key) => store.get(key),
    put(key, record) {
      if (record.origin !== undefined) tally.journalled(endpointOf(key), record);
      return store.put(key, record);
    },
    sync: () => store.sync(),
    close: () => store.close(),
  };
}

/** Counts the requests of an earlier part of the run. */
function replayInto(tally: Tally): (key: string, record: LookupRecord) => void {
  return (key, record) => {
    if (record.origin === undefined) return;
    const endpoint = endpointOf(key);
    for (const outcome of record.origin.outcomes) tally.request(endpoint, outcome);
    tally.journalled(endpoint, record);
  };
}
