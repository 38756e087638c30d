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
 * Executes a run from its first row to its manifest. Keeps the state that a resume needs, if the
 * output can be resumed.
 *
 * @throws UsageError if the job cannot start, FatalError if it cannot continue, EarlyEndError,
 *   InterruptedError
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
    throw new UsageError(
      "warehouse_is_durable",
      `${target.name} needs a durable run: leave out durable: false`,
    );
  }
  return target.base === null
    ? executeToStream(job, rows, target)
    : executeResumably(job, rows, target, target.base);
}

/** The run cannot be resumed, so its journal goes to a temporary folder. */
function executeToStream(job: EnrichJob, rows: RowJob, target: OutputTarget): Promise<Manifest> {
  if (job.settings.resume) {
    const message = `--resume needs an output file, and ${target.name} is not one`;
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
    // A run without results leaves nothing behind; any other can be resumed.
    if (!state.resumable) await removeParts(target, settings.rejects);
    await (state.resumable ? state.release() : state.remove());
    throw error;
  }
}

/**
 * The main job: reads every row of the input, looks up its item and writes the enriched row.
 *
 * @throws UsageError if the job cannot start, FatalError if it cannot continue, EarlyEndError,
 *   InterruptedError
 */
export function enrich(job: EnrichJob): Promise<Manifest> {
  return execute(job, readingOf(job.input, job.settings, job.clock));
}
