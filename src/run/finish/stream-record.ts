import { manifestPath } from "../../core/files/output-names.js";
import { join } from "node:path";
import { makeFolder } from "../../core/files/make-folder.js";
import { faultReason } from "../../core/files/system-fault.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob } from "../types.js";
import { endingOfError } from "../exit-reason.js";
import { writeManifest } from "./manifest.js";
import { noteRecord } from "./record-ending.js";
import { userStateFolder } from "../../core/files/user-folders.js";

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
