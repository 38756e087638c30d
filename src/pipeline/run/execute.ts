import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../core/clock.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { keepsReceived } from "../../outputs/registry.js";
import type { EncoderOptions } from "../../outputs/types.js";
import type { OpenedSource } from "../../inputs/types.js";
import { announceReading } from "./announce-reading.js";
import { assembleLookup } from "../lookup/assemble-lookup.js";
import type { AssembledLookup } from "../lookup/assemble-lookup.js";
import { Checkpointer } from "../state/checkpointer.js";
import { closingWarnings } from "./closing-warnings.js";
import { endAt } from "./deadline.js";
import { discardRows } from "./discard-rows.js";
import { giveUp, removeParts } from "../finish/leave-nothing.js";
import { chooseOutput, openSink } from "../output/open-output.js";
import type { OutputTarget } from "../output/open-output.js";
import { addRejects } from "../output/open-rejects.js";
import type { RejectsFile } from "../output/open-rejects.js";
import { finishEarlier } from "../finish/finish-earlier.js";
import { orStopped } from "./or-stopped.js";
import { publish } from "../finish/publish.js";
import { run } from "./run.js";
import { sameRun, takeFingerprint } from "../state/same-run.js";
import { openStateFolder } from "../state/state-folder.js";
import type { StateFolder } from "../state/state-folder.js";
import { Tally } from "./tally.js";
import type { EnrichJob, Manifest } from "../types.js";
import { WarehouseRun } from "../output/warehouse-run.js";
import type { Work } from "./work.js";

/**
 * Carries a piece of work out, from its first row to its manifest: output, state, journal, lookups,
 * checkpoints. What happens to the rows in between is in `run.ts`.
 *
 * @throws UsageError when the job cannot begin, FatalError when it cannot go on, InterruptedError
 */
export async function execute(job: EnrichJob, work: Work): Promise<Manifest> {
  const { settings } = job;
  const inputPath = "path" in job.input ? job.input.path : null;
  const target = await chooseOutput(settings.output, settings, () => work.inputFormat(), inputPath);
  if (job.durable === false) {
    if (target.warehouse === null) return executeInto(job, work, target, null, null);
    throw new UsageError("warehouse_is_durable", `${target.name} needs a run that is durable`);
  }
  if (target.base === null) {
    if (settings.resume) {
      throw new UsageError(
        "resume_needs_file",
        `--resume needs an output file; ${target.name} is none`,
      );
    }
    const scratch = await mkdtemp(join(tmpdir(), "repute-"));
    try {
      return await executeInto(job, work, target, null, join(scratch, "journal"));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  const state = await openStateFolder(target.base, { ...settings, name: target.name }, (found) =>
    discardRows(job, target, found),
  );
  try {
    const manifest =
      (await finishEarlier(job, work, target, state)) ??
      (await executeInto(job, work, target, state, state.journalPath));
    await state.tidy();
    (job.onFinished ?? takeStep)(() => state.removeMark());
    return manifest;
  } catch (error) {
    // What did not get anywhere leaves nothing behind; an interrupted run stays resumable.
    if (!state.worthKeeping) await removeParts(target, settings.rejects);
    await (state.worthKeeping ? state.release() : state.remove());
    throw error;
  }
}

function takeStep(step: () => void): void {
  step();
}

async function executeInto(
  job: EnrichJob,
  work: Work,
  target: OutputTarget,
  state: StateFolder | null,
  journalPath: string | null,
): Promise<Manifest> {
  const clock = job.clock ?? systemClock;
  const saved = state?.checkpoint ?? null;
  const fingerprint = await takeFingerprint(job, work, target);
  const inputGrew = saved === null ? false : await sameRun(job, saved, fingerprint);
  const runId = saved?.runId ?? randomUUID();
  const warehouse =
    target.warehouse === null || state === null
      ? null
      : new WarehouseRun({ job, target, runId, clock, stateFolder: state.path });
  const before = saved === null || warehouse === null ? saved : await warehouse.resume(saved);
  const opening = orStopped(work.open(before?.source ?? null), job.signal, (late) => late.close());
  const source = await opening.catch(async (error: unknown) => {
    await warehouse?.abandon();
    throw error;
  });
  let lookup: AssembledLookup | null = null;
  try {
    const encoder: EncoderOptions = {
      columns: source.columns,
      prefix: job.settings.prefix,
      shape: job.settings.shape ?? (target.format === "ndjson" ? "nested" : "flat"),
      formulaGuard: job.settings.formulaGuard,
      clock,
    };
    const tally = new Tally(before?.tally);
    if (warehouse !== null) warehouse.tally = tally;
    const resume = before?.sink ?? null;
    announceReading(job, source.reading);
    const rejects = rejectsFile(job, source);
    const sink =
      target.warehouse === null
        ? await openSink(target, {
            encoder,
            wrapEncoder: work.encoder,
            stdout: job.stdout,
            resume,
            rejects,
          })
        : await addRejects(await opened(warehouse).sink(source.columns), rejects, resume);
    const requests = new AbortController();
    const early = new AbortController();
    const over = new AbortController();
    try {
      lookup = await assembleLookup(job, {
        clock,
        tally,
        journalPath,
        outputBase: target.base,
        journalBytes: before?.journalBytes,
        partialsFromCache: work.partialsFromCache,
        asReceived: target.warehouse === null && keepsReceived(target.format, encoder),
        requests: requests.signal,
        onEarlyEnd: (error) => early.abort(error),
      });
      const { deadline } = job.settings;
      if (deadline !== undefined) {
        void endAt(deadline, clock, (error) => early.abort(error), over.signal);
      }
      const checkpointer = new Checkpointer({
        clock,
        sink,
        journal: lookup.journal,
        state,
        tally,
        fingerprint,
        source,
        before,
        runId,
      });
      await checkpointer.begin();
      const read = { rows: before?.source.row ?? 0 };
      job.onStart?.(() => ({
        rowsRead: read.rows,
        rowsWritten: tally.rows,
        requests: tally.requestTotal,
        statuses: tally.statuses,
        bytesRead: source.bytesRead(),
        bytesTotal: source.bytesTotal,
      }));
      await run({
        source,
        begin: work.begin(lookup.lookup),
        sink,
        tally,
        clock,
        ordered: !job.settings.unordered,
        concurrency: job.settings.concurrency,
        backlog: lookup.backlog,
        signal: job.signal,
        early: early.signal,
        requests,
        skip: new Set(before?.ahead),
        startOffset: before?.source.offset ?? 0,
        onRead: () => void read.rows++,
        onWritten: (position, last) => checkpointer.written(position, last),
      });
      return await publish(job, {
        source,
        inputGrew,
        target,
        encoder,
        sink,
        warehouse,
        tally,
        checkpointer,
        state,
        warnings: closingWarnings(job, source, lookup.address.warnings(), tally),
        rowsRead: read.rows + (before?.ahead.length ?? 0),
      });
    } catch (error) {
      await sink.abandon();
      if (before === null && tally.rows === 0 && !tally.answered) state?.forget();
      // Its journal holds nothing but 404s, which a run with the right address must not repeat.
      const isWrongService = error instanceof FatalError && error.code === "wrong_service";
      if (isWrongService && (before === null || lookup?.address.found === false)) {
        await giveUp(job, target, state, { runId, fingerprint });
      }
      throw error;
    } finally {
      over.abort();
    }
  } finally {
    await lookup?.close();
    await source.close();
  }
}

/** A warehouse has always a state folder, and so a run of its own. */
function opened(warehouse: WarehouseRun | null): WarehouseRun {
  if (warehouse === null) throw new TypeError("a warehouse is opened without a state folder");
  return warehouse;
}

function rejectsFile({ settings }: EnrichJob, source: OpenedSource): RejectsFile | null {
  const { rejects: path, formulaGuard } = settings;
  return path === undefined
    ? null
    : { path, columns: source.columns, reading: source.reading, formulaGuard };
}
