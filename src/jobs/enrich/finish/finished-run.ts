import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { FatalError } from "../../../core/errors.js";
import { startOver } from "../../../core/remedies.js";
import { hashFile } from "../../../core/files/file-hash.js";
import { readJsonFile } from "../../../core/files/json-file.js";
import { parseManifest } from "../../../core/manifest/found-manifest.js";
import type { Manifest } from "../../../core/manifest/manifest.js";
import { partPath, renamePart } from "../../../io/output/part-file.js";
import { inputPaths, type RunInput } from "../../../io/input/types.js";
import { realPath } from "../../../core/files/real-path.js";
import { compareFingerprints, takeFingerprint } from "../state/fingerprint.js";
import type { StateFolder } from "../state/state-folder.js";
import type { Job } from "../types.js";
import { openPublication } from "../destination/open-output.js";
import { type FailedPlace, removeFailed } from "../../../io/output/object/failed-output.js";
import { stageUpTo } from "../../../io/output/staged-sink.js";
import { writeManifest } from "../../../io/output/manifest-file.js";
import type { FinishedRun } from "../state/checkpoint.js";
import { type OutputTarget, resultOf } from "../destination/output-target.js";
import { failedSuffix } from "../../../core/files/output-names.js";

/**
 * Publishes a run that was killed after its last row was written, and returns its manifest. If the
 * command or the input has changed since, returns null: a new run starts.
 */
export async function finishEarlier(
  job: Job,
  target: OutputTarget,
  state: StateFolder,
): Promise<Manifest | null> {
  if (state.finished === null) return null;
  const { manifest, published = false, ...rest } = state.finished;
  const resumed = manifest.resumed + (published ? 0 : 1);
  const finished = { ...rest, manifest: { ...manifest, resumed } };
  if (!published) await republish(job, target, finished, state.path);
  const now = await takeFingerprint(job, target);
  const { fingerprint } = finished.checkpoint;
  const { differences } = await compareFingerprints(fingerprint, now, job.input);
  if (differences.length === 0) return finished.manifest;
  job.onWarning?.(
    `completed the interrupted run of ${target.name}; options or input have changed, so a new run starts now`,
  );
  await state.startOver();
  return null;
}

/**
 * Renames the file of a finished run, completes its table and writes its manifest. Each step may
 * already have happened.
 *
 * @throws FatalError `output_gone` if the file has neither its final name nor its `.part` name
 */
async function republish(
  job: Job,
  target: OutputTarget,
  finished: FinishedRun,
  stateFolder: string,
): Promise<void> {
  const { manifest, suffix } = finished;
  if (target.file !== null) await completeFile(target.file, suffix, manifest.output);
  else if (target.text === null) await commitStaged(job, target, finished, stateFolder);
  await saveRecord(job, target, manifest, suffix);
}

/**
 * Writes the manifest beside an output and removes the files it supersedes. @throws FatalError
 * `output_*`
 */
export async function saveRecord(
  job: RecordedJob,
  target: OutputTarget,
  manifest: Manifest,
  suffix: string,
): Promise<void> {
  if (target.base === null) return;
  await writeManifest(resultOf(target, target.base, suffix).base, manifest);
  if (suffix === "") await removeFailedOutput(job, target, target.base);
  const { signal, onWarning } = job;
  await target.upload?.publish({
    suffix,
    signal,
    inputs: inputPaths(job.input),
    onWarning,
  });
}

interface RecordedJob {
  readonly signal?: AbortSignal | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly input: RunInput;
}

/** Removes the `OUT.failed` files of an earlier run of the same output. */
async function removeFailedOutput(
  job: RecordedJob,
  target: OutputTarget,
  base: string,
): Promise<void> {
  const failed = resultOf(target, base, failedSuffix).base;
  const inputs = inputPaths(job.input).map(realPath);
  const place: FailedPlace = {
    readManifest: (path) =>
      readJsonFile(path)
        .then((value) => parseManifest(value, path))
        .catch(() => null),
    remove: (path) => rm(path, { force: true }),
  };
  try {
    await removeFailed(place, failed, inputs);
  } catch (error) {
    job.onWarning?.(`cannot remove OUT.failed of an earlier run: ${(error as Error).message}`);
  }
}

/** Gives the text of a run its name, if it is still what the run wrote. */
async function completeFile(
  name: string,
  suffix: string,
  { bytes, sha256 }: Manifest["output"],
): Promise<void> {
  const path = existsSync(partPath(name)) ? partPath(name) : name + suffix;
  const found = existsSync(path) ? await hashFile(path) : null;
  if (found !== null && (found.bytes !== bytes || found.sha256 !== sha256)) {
    const message = `${path} is damaged: it has other bytes than the run wrote`;
    throw new FatalError("output_part_damaged", message, { hint: startOver });
  }
  await renamePart(name, suffix);
}

async function commitStaged(
  job: Job,
  target: OutputTarget,
  { checkpoint, suffix, manifest }: FinishedRun,
  stateFolder: string,
): Promise<void> {
  const { source, runId, sink } = checkpoint;
  const { onWarning } = job;
  const rows = { source, runId, stateFolder, onWarning };
  const publication = await openPublication(job, target, rows);
  await publication.commit(stageUpTo(publication, stateFolder, sink), suffix, manifest);
}
