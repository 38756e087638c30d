import { join } from "node:path";
import { FatalError } from "../../core/errors.js";
import type { MadeUp } from "../../core/finding.js";
import { counted } from "../../core/wording/quantity.js";
import { mixedData, otherTable } from "../../io/output/publisher.js";
import { madeUpIn } from "../../client/api/service-description.js";
import type { ResourceStack } from "../../core/resource-stack.js";
import { outlineOf } from "../../client/store/answer-table.js";
import { endpointOf, serviceAddress } from "../../client/store/cache-key.js";
import type { Taken } from "../../client/store/journal.js";
import type { LookupStore } from "../../client/store/store.js";
import type { OpenRun } from "./open-run.js";
import type { RunSignals } from "./run-signals.js";
import { databaseName } from "./state/checkpoint.js";
import { formats } from "../../io/formats/registry.js";
import { RunDatabase } from "./state/run-database.js";
import { serviceOf } from "./state/state-folder.js";
import type { Tally } from "./tally.js";
import { itemOf } from "../../client/lookup/attempt/journalled.js";

/** The lookup of a run, and the answers in its journal. */
export type RunLookup = Awaited<ReturnType<typeof openRunLookup>>;

/** Opens the journal of a run, and the lookup that answers what is not in it. */
export async function openRunLookup(run: OpenRun, signals: RunSignals, stack: ResourceStack) {
  const { job, tally } = run;
  const { session, settings, onWarning } = job;
  const asReceived = needsReceived(run);
  const { store, answers } = await openRunJournal(run, asReceived, stack);
  const opened = await session.lookup({
    settings: { ...settings.lookup, maxRequests: settings.run.maxRequests },
    store,
    isResumed: run.before !== null,
    asReceived,
    partialsFromCache: usesPartials(run),
    // Rows that are written again must be what they were.
    keepsCached: settings.output.distinct,
    // A stopped run still accepts the answers of open requests.
    requests: signals.requests,
    onAttempt({ endpoint, outcome, headers }) {
      tally.request(endpoint, outcome);
      if (headers === null) return;
      const madeUp = madeUpIn(headers);
      tally.hasMadeUp(madeUp);
      if (outcome === "200") refuseMixed(run, signals, madeUp);
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
  return { ...opened, answers };
}

/** Whether rows contain results as received. */
function needsReceived({ target, encoder, optional }: OpenRun): boolean {
  if (optional.raw === true) return true;
  return target.text !== null && formats[target.text].keepsReceived(encoder.shape);
}

/** Whether stored partial answers are used: a refill exists to complete them. */
function usesPartials({ job }: OpenRun): boolean {
  return job.refill === undefined;
}

/** Ends a run whose answers must not stand among those in its table. */
function refuseMixed(
  { checked, target }: OpenRun,
  signals: RunSignals,
  madeUp: MadeUp | undefined,
): void {
  const holds = checked.holds ?? null;
  if (holds === null || holds === (madeUp === undefined ? "real" : "made up")) return;
  const message = mixedData(target.name, holds);
  signals.end(new FatalError("made_up_rows", message, { hint: otherTable }));
}

/**
 * Opens a run's journal, counts what an earlier part of the run left there, and takes over the answers
 * of another run.
 *
 * @throws FatalError `state_damaged`, `output_*`
 */
async function openRunJournal(run: OpenRun, asReceived: boolean, stack: ResourceStack) {
  const { job, folder, before, state, tally } = run;
  const database = state?.database ?? (await RunDatabase.open(join(folder, databaseName)));
  if (state === null) stack.defer(() => database.close());
  const isTakeOver = before === null && database.answers > 0;
  const taken = await takenAnswers(run, database);
  const journal = database.openJournal({ asReceived, taken });
  // Count each record written; a resumed run counts it again during replay.
  const count = (key: string, record: Parameters<Tally["journalled"]>[1]): void => {
    if (record.origin !== undefined) tally.journalled(endpointOf(key), record);
  };
  const earlier = taken?.last ?? 0;
  let tookOver = 0;
  for (const stored of journal.replay(database.answers)) {
    const outline = outlineOf(stored);
    if (stored.n > earlier) {
      for (const outcome of outline.origin?.outcomes ?? []) {
        tally.request(endpointOf(stored.key), outcome);
      }
      count(stored.key, outline);
    } else if (isTakeOver && taken?.isUsed(stored) === true) {
      tookOver++;
      tally.hasMadeUp(outline.madeUp);
    }
  }
  if (isTakeOver) tally.facts.took_over = tookOver;
  database.mustHave(before?.answers.last ?? 0);
  if (taken !== undefined && isTakeOver) {
    job.onNotice?.(`took over ${counted(tookOver, "answer")} of the interrupted run`);
  }
  const store: LookupStore = {
    get: (key) => journal.get(key),
    put(key, record) {
      count(key, record);
      journal.put(key, record);
    },
  };
  return { store, answers: () => ({ last: journal.last, earlier }) };
}

/** Age from which an answer is not taken over: 30 days, in milliseconds. */
const oldestMs = 30 * 24 * 3_600_000;

/**
 * Decides which answers of an interrupted run a new one takes over: those of the same service that
 * are younger than 30 days and that the exclusion lists still allow.
 *
 * @returns undefined for none
 */
async function takenAnswers(run: OpenRun, database: RunDatabase): Promise<Taken | undefined> {
  const { job, clock, before, fingerprint } = run;
  const last = before?.answers.earlier ?? database.answers;
  if (last === 0) return undefined;
  if (before === null) {
    const service = database.read("service");
    if (serviceAddress(service?.name ?? "") !== serviceAddress(serviceOf({ fingerprint }).name)) {
      job.onNotice?.("the interrupted run asked another service; its answers are not used");
      database.forget([], false);
      return undefined;
    }
  }
  const withheld = await job.session.withheld(job.settings.lookup);
  const now = clock.now();
  return {
    last,
    isUsed(stored) {
      const { status, key, storedAt } = stored;
      if (status === "failed" || outlineOf(stored).again !== null) return false;
      if (status === "partial" && !usesPartials(run)) return false;
      // A clock that is or was wrong can give a time in the future.
      if (Math.abs(now - storedAt) >= oldestMs) return false;
      return withheld.listOf(itemOf(key)) === null;
    },
  };
}
