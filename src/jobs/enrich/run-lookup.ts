import { existsSync } from "node:fs";
import { join } from "node:path";
import { FatalError } from "../../core/errors.js";
import type { MadeUp, LookupRecord } from "../../core/finding.js";
import { mixedData, otherTable } from "../../io/output/publisher.js";
import { madeUpIn } from "../../client/api/service-description.js";
import type { ResourceStack } from "../../core/resource-stack.js";
import { openJournal } from "../../client/store/journal/journal.js";
import type { LookupStore, RunJournal } from "../../client/store/store.js";
import type { OpenRun } from "./open-run.js";
import type { RunSignals } from "./run-signals.js";
import type { OpenedLookup } from "../../client/session/types.js";
import { endpointOf } from "../../client/lookup/attempt/journalled.js";

interface RunLookupOptions extends Pick<
  OpenRun,
  "job" | "clock" | "tally" | "folder" | "before" | "state" | "fingerprint" | "checked" | "target"
> {
  /** Whether rows contain results as received. */
  readonly asReceived: boolean;
  /** False: partial answers in a cache are requested again. @default true */
  readonly partialsFromCache?: boolean | undefined;
  /** Stopped when a budget or quota is spent. */
  readonly signals: RunSignals;
}

/** The lookup of a run, and its journal. */
export interface RunLookup extends OpenedLookup {
  readonly journal: RunJournal;
}

/** Opens the journal of a run, and the lookup that answers what is not in it. */
export async function openRunLookup(
  options: RunLookupOptions,
  stack: ResourceStack,
): Promise<RunLookup> {
  const { job, tally, signals, asReceived, partialsFromCache } = options;
  const { session, settings, onWarning } = job;
  const journal = await openRunJournal(options);
  stack.use(journal.store);
  const earlier = options.state?.earlier ?? null;
  if (earlier !== null) {
    const { takeOverAnswers } = await import("./take-over.js");
    await takeOverAnswers(options, earlier, journal.store, partialsFromCache);
  }
  const opened = await session.lookup({
    settings: { ...settings.lookup, maxRequests: settings.run.maxRequests },
    store: journal.counting,
    isResumed: journal.isResumed,
    asReceived,
    partialsFromCache,
    // A stopped run still accepts the answers of open requests.
    requests: signals.requests,
    onAttempt({ endpoint, outcome, headers }) {
      tally.request(endpoint, outcome);
      if (headers === null) return;
      const madeUp = madeUpIn(headers);
      tally.hasMadeUp(madeUp);
      if (outcome === "200") refuseMixed(options, madeUp);
    },
    onWarning: (message) => tally.warning(message),
    onEarlyEnd: (error) => signals.end(error),
    run: {
      answered: () => tally.answered,
      before: tally.snapshot().requests,
      onChange: (message) => onWarning?.(message),
    },
  });
  stack.defer(() => opened.close());
  return { ...opened, journal: journal.store };
}

/** Ends a run whose answers must not stand among those in its table. */
function refuseMixed(
  { checked, target, signals }: Pick<RunLookupOptions, "checked" | "target" | "signals">,
  madeUp: MadeUp | undefined,
): void {
  const holds = checked.holds ?? null;
  if (holds === null || holds === (madeUp === undefined ? "real" : "made up")) return;
  const message = mixedData(target.name, holds);
  signals.end(new FatalError("made_up_rows", message, { hint: otherTable }));
}

interface OpenedJournal {
  readonly store: RunJournal;
  /** The same store; records written through it are counted in the run's tally. */
  readonly counting: LookupStore;
  /** True if an earlier part of the run has left a journal. */
  readonly isResumed: boolean;
}

/**
 * Opens a run's journal and counts the records that an earlier part of the run left there.
 *
 * @throws FatalError `journal_*`
 */
async function openRunJournal({
  job,
  folder,
  before,
  asReceived,
  tally,
}: RunLookupOptions): Promise<OpenedJournal> {
  // Count each record written; a resumed run counts it again during replay.
  const count = (key: string, record: LookupRecord): void => {
    if (record.origin !== undefined) tally.journalled(endpointOf(key), record);
  };
  const journal = join(folder, "journal");
  const isResumed = existsSync(journal);
  const store = await openJournal({
    folder: journal,
    durableBytes: before?.journalBytes ?? 0,
    asReceived,
    onReplay(key, record) {
      for (const outcome of record.origin?.outcomes ?? []) tally.request(endpointOf(key), outcome);
      count(key, record);
    },
    onWarning: job.onWarning,
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
