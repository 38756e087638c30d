import { existsSync } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import { writeJsonFile } from "../../core/files/json-file.js";
import { syncFolder } from "../../core/files/sync-folder.js";
import { partPath } from "../../outputs/file-destination.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { Checkpoint } from "../state/checkpoint.js";
import { finalPath } from "../output/final-path.js";
import { manifestPath } from "./manifest.js";
import type { OutputTarget, WarehouseOutputTarget } from "../output/open-output.js";
import { removeFailedOutput } from "./remove-failed-output.js";
import type { EnrichJob, Manifest } from "../types.js";
import { WarehouseRun } from "../output/warehouse-run.js";

/**
 * A run whose rows are written and checked: only publishing is left. Saved in the state folder before
 * the first file gets its final name, and removed as the last step before the process exits. Whoever
 * finds it repeats the publishing, which does no harm a second time, instead of the run.
 */
export interface FinishedRun {
  /** Identity of the run and how far its output is durable. */
  readonly checkpoint: Checkpoint;
  readonly manifest: Manifest;
  /** What is appended to the names of its files. */
  readonly suffix: string;
}

/**
 * Publishes a run that was killed after its rows were complete: renames its files, settles its table,
 * writes its manifest. Each step may have happened already.
 *
 * @throws FatalError `output_gone` when a file is neither under its final name nor under `.part`
 */
export async function publishAgain(
  job: EnrichJob,
  target: OutputTarget,
  finished: FinishedRun,
  stateFolder: string,
): Promise<void> {
  const { checkpoint, manifest, suffix } = finished;
  if (target.file !== null) await giveName(target.file, suffix, manifest.output.bytes);
  else if (target.warehouse !== null) await settle(job, target, finished, stateFolder);
  const { rejects } = checkpoint.fingerprint.options;
  if (typeof rejects === "string") await giveName(await finalPath(rejects), suffix, null);
  await saveRecord(job, target, manifest, suffix);
}

/** Writes the manifest beside an output, and removes what it makes obsolete. @throws FatalError `output_*` */
export async function saveRecord(
  job: EnrichJob,
  target: OutputTarget,
  manifest: Manifest,
  suffix: string,
): Promise<void> {
  if (target.base === null) return;
  const path = manifestPath(target.base + suffix);
  await writeJsonFile(path, manifest).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  if (suffix === "") await removeFailedOutput(job, target, target.base);
}

/** @param bytes length of the file, or null where it is not known */
async function giveName(name: string, suffix: string, bytes: number | null): Promise<void> {
  const part = partPath(name);
  const path = name + suffix;
  try {
    if (existsSync(part)) {
      await rename(part, path);
      await syncFolder(dirname(path));
    }
  } catch (error) {
    throw outputFault(path, error);
  }
  const found = await stat(path).catch(() => null);
  if (found !== null && (bytes === null || found.size === bytes)) return;
  const what = found === null ? "is missing" : `has ${found.size} bytes instead of ${bytes}`;
  throw new FatalError("output_gone", `the output of the finished run ${what}: ${path}`, {
    hint: "start again with --restart",
  });
}

/** Reopens a warehouse where the run left it and ends the run there. */
async function settle(
  job: EnrichJob,
  target: WarehouseOutputTarget,
  { checkpoint, suffix }: FinishedRun,
  stateFolder: string,
): Promise<void> {
  const clock = job.clock ?? systemClock;
  const run = new WarehouseRun({ job, target, runId: checkpoint.runId, clock, stateFolder });
  await run.resume(checkpoint);
  const sink = await run.sink(checkpoint.source.columns);
  try {
    await sink.finish(suffix);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}
