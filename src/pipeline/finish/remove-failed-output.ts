import { rm } from "node:fs/promises";
import { failedSuffix } from "../../core/failed-name.js";
import { readJsonFile } from "../../core/files/json-file.js";
import { finalPath } from "../output/final-path.js";
import { manifestPath } from "./manifest.js";
import type { OutputTarget } from "../output/open-output.js";
import type { EnrichJob, Manifest } from "../types.js";

/**
 * Removes what an earlier run of the same output left as `OUT.failed`: rows and manifest, and its
 * rejected rows. Only files that such a manifest vouches for are removed, and never the input of
 * this run.
 *
 * @param base path that the run's own files begin with
 */
export async function removeFailedOutput(
  job: EnrichJob,
  { file }: OutputTarget,
  base: string,
): Promise<void> {
  const manifest = manifestPath(base + failedSuffix);
  const found = (await readJsonFile(manifest).catch(() => null)) as Partial<Manifest> | null;
  if (found?.exit_reason !== "too_many_failed") return;
  const { rejects } = job.settings;
  const input = "path" in job.input ? await finalPath(job.input.path) : null;
  const output = file === null ? null : file + failedSuffix;
  const left = [output, rejects === undefined ? null : (await finalPath(rejects)) + failedSuffix];
  try {
    for (const path of left) {
      if (path !== null && path !== input) await rm(path, { force: true });
    }
    // The manifest goes last: without it the other files would never be removed.
    if (output === null || output !== input) await rm(manifest, { force: true });
  } catch (error) {
    job.onWarning?.(`cannot remove what an earlier run left: ${(error as Error).message}`);
  }
}
