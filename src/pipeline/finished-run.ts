import { existsSync } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../core/clock.js";
import { FatalError } from "../core/errors.js";
import { writeJsonFile } from "../core/json-file.js";
import { syncFolder } from "../core/sync-folder.js";
import { partPath } from "../sinks/file-destination.js";
import { outputFault } from "../sinks/output-fault.js";
import type { Checkpoint } from "./checkpoint.js";
import { finalPath } from "./final-path.js";
import { manifestPath } from "./manifest.js";
import type { OutputTarget, WarehouseOutputTarget } from "./open-output.js";
import type { EnrichJob, Manifest } from "./types.js";
import { WarehouseRun } from "./warehouse-run.js";

/**
 * A run whose rows are written and checked: only publishing is left. Saved in the state folder before
 * the first file gets its final name, and removed as the last step before the process exits. Whoever
 * finds it repeats the publishing, which does no harm a second time, instead of the run.
 */
export interface FinishedRun {
  /** Identity of the run and how far its output is durable. */
  readonly checkpoint: Checkpoint;
  readonly manifest: Manifest;
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
  { checkpoint, manifest }: FinishedRun,
  stateFolder: string,
): Promise<void> {
  if (target.file !== null) await giveName(target.file, manifest.output.bytes);
  else if (target.warehouse !== null) await settle(job, target, checkpoint, stateFolder);
  const { rejects } = checkpoint.fingerprint.options;
  if (typeof rejects === "string") await giveName(await finalPath(rejects), null);
  if (target.base !== null) await saveManifest(target.base, manifest);
}

/** Writes the manifest beside an output. @throws FatalError `output_*` */
export async function saveManifest(base: string, manifest: Manifest): Promise<void> {
  const path = manifestPath(base);
  await writeJsonFile(path, manifest).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

/** @param bytes length of the file, or null where it is not known */
async function giveName(path: string, bytes: number | null): Promise<void> {
  const part = partPath(path);
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
  checkpoint: Checkpoint,
  stateFolder: string,
): Promise<void> {
  const clock = job.clock ?? systemClock;
  const run = new WarehouseRun({ job, target, runId: checkpoint.runId, clock, stateFolder });
  await run.resume(checkpoint);
  const sink = await run.sink(checkpoint.source.columns);
  try {
    await sink.finish();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}
