import { existsSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../core/clock.js";
import { UsageError } from "../core/errors.js";
import { partPath } from "../sinks/file-destination.js";
import type { EncoderOptions } from "../sinks/types.js";
import type { OpenedSource } from "../sources/types.js";
import { assembleLookup } from "./assemble-lookup.js";
import type { AssembledLookup } from "./assemble-lookup.js";
import { Checkpointer } from "./checkpointer.js";
import type { Checkpoint } from "./checkpoint.js";
import { endAt } from "./deadline.js";
import { compareFingerprints, fingerprintOf, identifyInput } from "./fingerprint.js";
import type { Fingerprint } from "./fingerprint.js";
import { finalPath } from "./final-path.js";
import { chooseOutput, openSink } from "./open-output.js";
import type { OutputTarget } from "./open-output.js";
import { publish } from "./publish.js";
import { run } from "./run.js";
import { openStateFolder } from "./state-folder.js";
import type { StateFolder } from "./state-folder.js";
import { Tally } from "./tally.js";
import type { EnrichJob, Manifest } from "./types.js";
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
  const target = await chooseOutput(settings.output, settings, work.inputFormat, inputPath);
  if (job.durable === false) return executeInto(job, work, target, null, null);
  if (target.file === null) {
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
  const state = await openStateFolder(target.file, settings);
  let keep = true;
  try {
    const manifest = await executeInto(job, work, target, state, state.journalPath);
    keep = false;
    return manifest;
  } catch (error) {
    // What did not get anywhere leaves nothing behind; an interrupted run stays resumable.
    keep = state.worthKeeping;
    if (!keep) await rm(partPath(target.file), { force: true });
    throw error;
  } finally {
    await (keep ? state.release() : state.remove());
  }
}

async function executeInto(
  job: EnrichJob,
  work: Work,
  target: OutputTarget,
  state: StateFolder | null,
  journalPath: string | null,
): Promise<Manifest> {
  const clock = job.clock ?? systemClock;
  const before = state?.checkpoint ?? null;
  const fingerprint = await takeFingerprint(job, work, target);
  const inputGrew = before === null ? false : await sameRun(job, before, fingerprint);
  if (before?.complete) await takeNamesBack(target, job.settings.rejects);
  const source = await orStopped(work.open(before?.source ?? null), job.signal);
  let lookup: AssembledLookup | null = null;
  try {
    const encoder: EncoderOptions = {
      columns: source.columns,
      prefix: job.settings.prefix,
      shape: job.settings.shape ?? (target.format === "ndjson" ? "nested" : "flat"),
      formulaGuard: job.settings.formulaGuard,
    };
    const tally = new Tally(before?.tally);
    const { rejects } = job.settings;
    const sink = await openSink(target, {
      encoder,
      wrapEncoder: work.encoder,
      stdout: job.stdout,
      resume: before?.sink ?? null,
      rejects:
        rejects === undefined
          ? null
          : {
              path: rejects,
              format: work.inputFormat,
              columns: source.columns,
              header: job.settings.header,
              formulaGuard: job.settings.formulaGuard,
            },
    });
    const requests = new AbortController();
    const early = new AbortController();
    const over = new AbortController();
    try {
      lookup = await assembleLookup(job, {
        clock,
        tally,
        journalPath,
        partialsFromCache: work.partialsFromCache,
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
        columns: source.columns,
        before,
        runId: before?.runId ?? randomUUID(),
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
        begin: work.begin(lookup.lookup, tally),
        sink,
        tally,
        clock,
        ordered: !job.settings.unordered,
        concurrency: job.settings.concurrency,
        signal: job.signal,
        early: early.signal,
        requests,
        skip: new Set(before?.ahead),
        startOffset: before?.source.offset ?? 0,
        onRead: () => void read.rows++,
        onWritten: (position, last) => checkpointer.written(position, last),
      });
      for (const [message, n] of source.warnings) tally.warning(message, n);
      if (work.inputFormat !== "text") doubtColumn(job, source.itemColumn, tally);
      return await publish(job, {
        source,
        inputFormat: work.inputFormat,
        inputGrew,
        target,
        encoder,
        sink,
        tally,
        checkpointer,
        rowsRead: read.rows + (before?.ahead.length ?? 0),
      });
    } catch (error) {
      await sink.abandon();
      if (before === null && tally.rows === 0 && !tally.answered) state?.forget();
      throw error;
    } finally {
      over.abort();
    }
  } finally {
    await lookup?.close();
    await source.close();
  }
}

/** A column that was not named by anybody and holds hardly an item is the wrong one, most likely. */
function doubtColumn(job: EnrichJob, column: string, tally: Tally): void {
  const { unsupported } = tally.statuses;
  if (job.settings.itemColumn !== undefined || unsupported * 2 <= tally.rows) return;
  const message = `${unsupported} of ${tally.rows} rows have no item in the column ${JSON.stringify(column)}, which was chosen by its name; --item-column names another`;
  tally.warning(message);
  job.onWarning?.(message);
}

/** The run was killed between renaming its files and its end: its last step is done again. */
async function takeNamesBack({ file }: OutputTarget, rejects: string | undefined): Promise<void> {
  const files = [file, rejects === undefined ? null : await finalPath(rejects)];
  for (const path of files) {
    if (path === null || existsSync(partPath(path)) || !existsSync(path)) continue;
    await rename(path, partPath(path));
  }
}

/** Opening waits for the input's first bytes, on a pipe for as long as it takes: a signal ends that. */
function orStopped(opening: Promise<OpenedSource>, signal: AbortSignal): Promise<OpenedSource> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason);
      opening.then(
        (source) => source.close(),
        () => undefined,
      );
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    opening.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

async function takeFingerprint(
  job: EnrichJob,
  work: Work,
  target: OutputTarget,
): Promise<Fingerprint> {
  const { settings } = job;
  return fingerprintOf(await identifyInput(job.input), {
    ...work.options,
    to: target.format,
    gzip: target.gzip,
    prefix: settings.prefix,
    shape: settings.shape ?? null,
    "formula-guard": settings.formulaGuard,
    unordered: settings.unordered,
    lookups: settings.lookups,
    bogons: settings.bogons === "local" ? "local" : null,
    rejects: settings.rejects ?? null,
    "intel-url": job.serviceName ?? settings.intelUrl ?? null,
  });
}

/** Makes sure that this run is the one that was interrupted; tells whether its input grew. */
async function sameRun(job: EnrichJob, before: Checkpoint, now: Fingerprint): Promise<boolean> {
  const oldSize = before.fingerprint.input.bytes ?? undefined;
  const atOldSize = await identifyInput(job.input, oldSize);
  const { differences, inputGrew } = compareFingerprints(before.fingerprint, now, atOldSize);
  if (differences.length > 0) {
    throw new UsageError(
      "resume_differs",
      `this is not the run that was interrupted: ${differences.join("; ")}`,
      { hint: "repeat it with what it was given, or start anew with --restart" },
    );
  }
  if (inputGrew) job.onWarning?.("the input has become longer since the run was interrupted");
  return inputGrew;
}
