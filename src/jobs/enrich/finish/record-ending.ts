import { join } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { makeFolder } from "../../../core/files/make-folder.js";
import { manifestPath } from "../../../core/files/output-names.js";
import { faultReason } from "../../../core/files/system-fault.js";
import { userStateFolder } from "../../../core/files/user-folders.js";
import type { Manifest } from "../../../core/manifest/manifest.js";
import { endingOfError } from "../exit-reason.js";
import { readUnfinished, saveUnfinished } from "../state/checkpoint.js";
import type { EnrichJob } from "../types.js";
import { writeManifest } from "../../../io/output/manifest-file.js";

/** A job, and the manifest of its run so far: null until rows flow. */
interface NotedJob {
  readonly job: EnrichJob;
  readonly soFar: () => Manifest | null;
}

/** Notes the manifest of a run so far, to record it with the run's ending. */
export function noteRecord(job: EnrichJob): NotedJob {
  let soFar: (() => Manifest) | null = null;
  const noted: EnrichJob = {
    ...job,
    onStart(progress, record) {
      soFar = record;
      job.onStart?.(progress, record);
    },
  };
  return { job: noted, soFar: () => soFar?.() ?? null };
}

/** Records in its state folder why a run ended, with its counts so far. */
export async function recordEnding(
  folder: string,
  error: unknown,
  { soFar }: NotedJob,
): Promise<void> {
  // Wrong usage starts nothing, so the end before it still stands.
  if (error instanceof UsageError) return;
  const record = soFar() ?? (await readUnfinished(folder));
  if (record !== null) await saveUnfinished(folder, { ...record, ...endingOfError(error, true) });
}

/**
 * Runs a job whose rows go to a stream, and writes its manifest to the state folder, where it
 * replaces that of the last such run.
 */
export async function recordStream(
  job: EnrichJob,
  run: (job: EnrichJob) => Promise<Manifest>,
): Promise<Manifest> {
  const noted = noteRecord(job);
  try {
    const manifest = await run(noted.job);
    await save(job, manifest);
    return manifest;
  } catch (error) {
    const record = noted.soFar();
    if (record !== null) await save(job, { ...record, ...endingOfError(error, false) });
    throw error;
  }
}

async function save(job: EnrichJob, manifest: Manifest): Promise<void> {
  const { stateFolder = userStateFolder(process.env), onWarning } = job;
  const { stateDir } = job.settings.run;
  const folder = stateDir ?? stateFolder;
  if (folder === null || job.recordsStream !== true) return;
  const base = join(folder, "stdout");
  try {
    makeFolder(folder, 0o700);
    await writeManifest(base, manifest);
  } catch (error) {
    // Only a folder that was asked for is missed.
    if (stateDir === undefined) return;
    const reason = faultReason(error instanceof Error ? (error.cause ?? error) : error);
    onWarning?.(`cannot write ${manifestPath(base)}: ${reason}`);
  }
}
