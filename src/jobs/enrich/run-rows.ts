import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { madeUpIn } from "../../client/api/service-description.js";
import { itemOf } from "../../client/lookup/compose.js";
import { openRequests } from "../../client/lookup/options.js";
import { endpointOf } from "../../client/store/answer-table.js";
import type { Taken } from "../../client/store/journal.js";
import type { LookupStore } from "../../client/store/store.js";
import { abortable } from "../../core/abort.js";
import { EarlyEndError, FatalError } from "../../core/errors.js";
import { unasked } from "../../core/finding.js";
import type { Manifest } from "../../core/manifest.js";
import { type ResourceStack, withResources } from "../../core/resource-stack.js";
import { rowCodes } from "../../core/row-codes.js";
import { counted } from "../../core/wording/quantity.js";
import { formats } from "../../io/formats/registry.js";
import { inputPaths, inputsOf, type OpenedSource, type RunInput } from "../../io/input/types.js";
import { manifestPlace, storedManifest } from "../../io/output/manifest-file.js";
import { mixedData } from "../../io/output/publisher.js";
import { stageUpTo } from "../../io/output/stage.js";
import { endingOfError, recordStream } from "./ending.js";
import { leastRows } from "./failure-limits.js";
import { previousOutputs } from "./finish/previous-outputs.js";
import { manifestOf, publish, savedRun } from "./finish/publish.js";
import { type OpenRun, openRun, type RunPlace } from "./open-run.js";
import { moveRows } from "./rows/move-rows.js";
import { startRow } from "./rows/reading.js";
import { RunSignals } from "./run-signals.js";
import { saveUnfinished } from "./state/state-folder.js";
import { progressOf, type Tally } from "./tally.js";
import type { Job } from "./types.js";
import { closingWarnings } from "./warnings.js";

/** Opens input, output and lookup, moves the rows and publishes them. Closes everything, however it ends. */
export function runRows(place: RunPlace): Promise<Manifest> {
  return withResources(async (stack) => {
    const run = savedRun(await openRun(place, stack));
    const { job, source, tally, before } = run;
    const record = (): Manifest => manifestOf(run);
    let lookup: RunLookup | null = null;
    try {
      const signals = new RunSignals(job);
      stack.defer(() => signals.close());
      const asking = await openRunLookup(run, signals, stack);
      lookup = asking;
      // A run that continues may have published already: it would take itself for the earlier one.
      if (before === null) tally.counts.earlier_rows = await earlierRows(run);
      // Without a checkpoint, answers are those of an earlier run.
      await run.save();
      const { limit, minRows } = job.settings.run;
      const isRefused = await hasFewerRows(leastRows(minRows, tally.counts.earlier_rows), job);
      const start = (job.refill?.start ?? startRow)(
        isRefused ? () => Promise.resolve(notAsked) : asking.lookup,
      );
      let rowsRead = tally.rows;
      let received = tally.rows;
      job.onStart?.(() => progressOf(run, asking, received), record);
      await moveRows({
        ...run,
        source: limit === undefined ? source : { rows: firstRows(source.rows, limit) },
        start: run.selection?.noting(start) ?? start,
        leftOut: run.selection?.leftOut,
        concurrency: openRequests(job.settings.lookup),
        slots: asking.slots,
        signals,
        written: rowsRead,
        onReceived: (row) => void (received = Math.max(received, row)),
        onRead: () => void rowsRead++,
        onWritten: run.written,
      });
      const warnings = closingWarnings(run, asking.address.warnings());
      return await publish({ ...run, warnings, rowsRead, isRefused });
    } catch (error) {
      const isEarly = lookup !== null && error instanceof EarlyEndError;
      if (isEarly) await publishSoFar(run, error);
      await run.sink.abandon();
      dropUselessState(run, lookup, error);
      const removed = run.state.saveRemoved();
      if (lookup !== null && run.state.isKept) await saveUnfinished(run.state.path, record());
      else if (lookup !== null) {
        await recordStream(job, { ...record(), ...endingOfError(error, false) });
      }
      throw removed ?? error;
    }
  });
}

/** The finding of items that a run with too few rows does not ask for. */
const notAsked = unasked("failed", { code: "not_asked", message: rowCodes.not_asked[0] });

/** Publishes the rows of a run that stops early. If that fails, they wait for the run to continue. */
async function publishSoFar(run: ReturnType<typeof savedRun>, end: EarlyEndError): Promise<void> {
  const { job, publisher, target } = run;
  const { stage: staged, takesParts } = publisher.describe();
  if (!takesParts || staged === null) return;
  try {
    // A table must not have more rows than a resume knows of.
    const position = await run.save();
    const soFar = { ...manifestOf(run), ...endingOfError(end, true) };
    const stage = stageUpTo(staged, position);
    const at = Date.parse(soFar.ended_at);
    await publisher.publish(stage, { suffix: "", at, manifest: () => soFar });
  } catch (error) {
    job.onWarning?.(
      `the rows so far are not in ${target.output.name} yet: ${(error as Error).message}`,
    );
  }
}

/** Drops the state of a failed run if there is nothing to continue. */
function dropUselessState(run: OpenRun, lookup: RunLookup | null, error: unknown): void {
  const { state, before, tally } = run;
  // A run without workers waits for some to come.
  const waits = error instanceof FatalError && error.code === "workers_away";
  const isIdle = before === null && tally.rows === 0 && !tally.answered && !waits;
  // The journal holds only 404s, which a run with the right address must not replay.
  // Nor would another run want the answers of a service that the table does not take.
  const isWrongService =
    error instanceof FatalError && ["wrong_service", "made_up_rows"].includes(error.code);
  const isUseless = isWrongService && (before === null || lookup?.address.found === false);
  if (isIdle || isUseless) state.resumable = false;
}

/**
 * Rows of the output before a run's: the last run in its table, the one that it replaces, or the newest
 * earlier one of the same `{date}` pattern. Undefined for none. One with `--limit` only says how many its
 * input had at least, so the whole one before it counts, too.
 */
async function earlierRows({ target, checked }: OpenRun): Promise<number | undefined> {
  const { output, file, upload } = target;
  if (typeof checked.earlierRows === "number") return checked.earlierRows;
  const { pattern } = output;
  const previous = pattern === null ? [] : await previousOutputs(pattern, output);
  const replaces = upload === undefined ? file !== null && existsSync(file) : upload.replaces();
  let least = 0;
  for (const each of (await replaces) ? [output, ...previous] : previous) {
    const manifest = await storedManifest(manifestPlace(each));
    // Those that it read: with `--only`, its output has fewer.
    const rows = manifest?.input?.rows ?? manifest?.output?.rows;
    least = Math.max(least, rows ?? 0);
    if (rows !== undefined && manifest?.sampled === undefined) break;
  }
  return least > 0 ? least : undefined;
}

/**
 * The first rows of a source. Ends without waiting for one more, which a pipe may never bring.
 *
 * @param limit number of the last one. @default all
 */
async function* firstRows(rows: OpenedSource["rows"], limit = Number.POSITIVE_INFINITY) {
  for await (const batch of rows) {
    const last = batch.at(-1)?.number ?? 0;
    yield last > limit ? batch.filter(({ number }) => number <= limit) : batch;
    if (last >= limit) return;
  }
}

/**
 * Whether an input has fewer rows than this, as far as they can be counted before the run reads them.
 * Reads no further than necessary.
 */
async function hasFewerRows(least: number, job: Job): Promise<boolean> {
  const { input, settings, signal } = job;
  // An input without rows asks for nothing anyway.
  if (least <= 1 || !(await isReadTwice(input))) return false;
  const source = await job.rows.open(null);
  let rows = 0;
  try {
    for await (const batch of abortable(firstRows(source.rows, settings.run.limit), signal)) {
      rows += batch.length;
      if (rows >= least) return false;
    }
  } finally {
    await source.close();
  }
  return true;
}

/** Whether an input consists of regular files, which can be read more than once. */
async function isReadTwice(input: RunInput): Promise<boolean> {
  const paths = inputPaths(input);
  if (paths.length < inputsOf(input).length) return false;
  const files = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return files.every((file) => file?.isFile() === true);
}

type RunLookup = Awaited<ReturnType<typeof openRunLookup>>;

/** Opens the journal of a run, and the lookup that answers what is not in it. */
async function openRunLookup(run: OpenRun, signals: RunSignals, stack: ResourceStack) {
  const { job, tally, target, encoder, optional } = run;
  const { session, settings, onWarning } = job;
  const asReceived =
    optional.raw === true ||
    (target.text !== null && formats[target.text].keepsReceived(encoder.shape));
  const holds = run.checked.holds ?? null;
  const store = openRunJournal(run, asReceived);
  const opened = await session.lookup({
    settings: { ...settings.lookup, maxRequests: settings.run.maxRequests },
    store,
    isResumed: run.before !== null,
    asReceived,
    // A refill exists to complete them.
    partialsFromCache: job.refill === undefined,
    // Rows that are written again must be what they were.
    keepsCached: settings.output.distinct,
    // A stopped run still accepts the answers of open requests.
    requests: signals.requests,
    onAttempt({ endpoint, outcome, headers }) {
      tally.request(endpoint, outcome);
      if (headers === null) return;
      const madeUp = madeUpIn(headers);
      tally.hasMadeUp(madeUp);
      // Such answers must not stand among those in the table.
      if (outcome === "200" && holds === (madeUp === undefined ? "made up" : "real")) {
        signals.end(mixedData(FatalError, target.output.name, holds));
      }
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
  return opened;
}

/**
 * Opens a run's journal, counts what an earlier part of the run left there, and takes over the answers
 * of another run.
 */
function openRunJournal(run: OpenRun, asReceived: boolean): LookupStore {
  const { job, state, before, tally } = run;
  const { journal } = state;
  const isTakeOver = before === null && state.earlier > 0;
  const taken = takenAnswers(run);
  // Count each record written; a resumed run counts it again during replay.
  const count = (key: string, record: Parameters<Tally["journalled"]>[1]): void => {
    if (record.origin !== undefined) tally.journalled(endpointOf(key), record);
  };
  let tookOver = 0;
  for (const stored of journal.replay({ asReceived, taken, least: before?.answers.last })) {
    if (stored.n > state.earlier) {
      for (const outcome of stored.origin?.outcomes ?? []) {
        tally.request(endpointOf(stored.key), outcome);
      }
      count(stored.key, stored);
    } else if (isTakeOver && taken?.isUsed(stored) === true) {
      tookOver++;
      tally.hasMadeUp(stored.madeUp ?? undefined);
    }
  }
  if (isTakeOver) tally.counts.took_over = tookOver;
  if (isTakeOver && taken !== undefined) {
    job.onNotice?.(`took over ${counted(tookOver, "answer")} of the interrupted run`);
  }
  return {
    get: (key) => journal.get(key),
    put(key, record) {
      count(key, record);
      journal.put(key, record);
    },
  };
}

/** Age from which an answer is not taken over: 30 days, in milliseconds. */
const oldestMs = 30 * 24 * 3_600_000;

/**
 * Decides which answers of an interrupted run a new one takes over: those of the same service that
 * are younger than 30 days and that the exclusion lists still allow.
 */
function takenAnswers(run: OpenRun): Taken | undefined {
  const { job, state, clock, before, withheld } = run;
  const { earlier: last } = state;
  if (last === 0) return undefined;
  if (before === null && !state.isOf(job.session.service.name)) {
    job.onNotice?.("the interrupted run asked another service; its answers are not used");
    state.journal.clear();
    state.earlier = 0;
    return undefined;
  }
  const now = clock.now();
  return {
    last,
    isUsed(stored) {
      const { key, storedAt, policy } = stored;
      const { status } = stored.finding;
      if (status === "failed" || policy !== null) return false;
      if (status === "partial" && job.refill !== undefined) return false;
      // A clock that is or was wrong can give a time in the future.
      if (Math.abs(now - storedAt) >= oldestMs) return false;
      return withheld.listOf(itemOf(key)) === null;
    },
  };
}
