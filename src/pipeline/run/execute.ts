import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { withResources } from "../../core/resource-stack.js";
import { raceAbort } from "../../core/abort.js";
import { finishEarlier } from "../finish/finished-run.js";
import { discardRows, removeParts } from "../finish/publish.js";
import { chooseOutput, type OutputTarget } from "../output/open-output.js";
import { openStateFolder } from "../state/state-folder.js";
import type { EnrichJob, Manifest } from "../types.js";
import { readingOf, type RowJob } from "./reading.js";
import { runRows } from "./run-rows.js";

/**
 * Carries a run out, from its first row to its manifest, and keeps what a resume needs where the
 * output allows a resume.
 *
 * @throws UsageError when the job cannot begin, FatalError when it cannot go on, EarlyEndError,
 * InterruptedError
 */
export async function execute(job: EnrichJob, rows: RowJob): Promise<Manifest> {
  const { settings, signal } = job;
  const inputPath = "path" in job.input ? job.input.path : null;
  const inputFormat = () => raceAbort(rows.inputFormat(), signal);
  const target = await chooseOutput(settings.output, settings, inputFormat, inputPath);
  if (job.durable === false) {
    if (target.warehouse === null) {
      return runRows(job, rows, { target, state: null, journalPath: null });
    }
    throw new UsageError("warehouse_is_durable", `${target.name} needs a run that is durable`);
  }
  return target.base === null
    ? executeToStream(job, rows, target)
    : executeResumably(job, rows, target, target.base);
}

/** Nothing can be resumed; the journal lies in a temporary folder. */
function executeToStream(job: EnrichJob, rows: RowJob, target: OutputTarget): Promise<Manifest> {
  if (job.settings.resume) {
    const message = `--resume needs an output file; ${target.name} is none`;
    throw new UsageError("resume_needs_file", message);
  }
  return withResources(async (stack) => {
    const scratch = await mkdtemp(join(tmpdir(), "repute-"));
    stack.defer(() => rm(scratch, { recursive: true, force: true }));
    return runRows(job, rows, { target, state: null, journalPath: join(scratch, "journal") });
  });
}

async function executeResumably(
  job: EnrichJob,
  rows: RowJob,
  target: OutputTarget,
  base: string,
): Promise<Manifest> {
  const { settings, onFinished = (lastStep) => lastStep() } = job;
  const state = await openStateFolder(base, { ...settings, name: target.name }, (found) =>
    discardRows(job, target, found),
  );
  try {
    const manifest =
      (await finishEarlier(job, rows, target, state)) ??
      (await runRows(job, rows, { target, state, journalPath: state.journalPath }));
    await state.tidy();
    onFinished(() => state.removeMark());
    return manifest;
  } catch (error) {
    // A run that got nowhere leaves nothing behind; any other stays resumable.
    if (!state.worthKeeping) await removeParts(target, settings.rejects);
    await (state.worthKeeping ? state.release() : state.remove());
    throw error;
  }
}

/**
 * The main job: reads every row of the input, looks its item up and writes the enriched row.
 *
 * @throws UsageError when the job cannot begin, FatalError when it cannot go on, EarlyEndError,
 * InterruptedError
 */
export function enrich(job: EnrichJob): Promise<Manifest> {
  return execute(job, readingOf(job.input, job.settings, job.clock));
}
