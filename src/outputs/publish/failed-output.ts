import { failedSuffix, manifestPath } from "../../core/files/output-names.js";
import { isRefusal } from "../../core/manifest/manifest.js";
import type { FoundManifest } from "../../core/manifest/found-manifest.js";

export interface FailedPlace {
  readonly readManifest: (path: string) => Promise<FoundManifest | null>;
  readonly remove: (path: string) => Promise<void>;
}

/**
 * Removes what an earlier, refused run left: rows, rejected rows and manifest. Needs
 * that manifest to say that they are a run's, and never removes this run's input.
 *
 * @param failed path of the rows, with the suffix
 * @param rejects path of this run's rejected rows
 */
export async function removeFailed(
  { readManifest, remove }: FailedPlace,
  failed: string,
  rejects: string | undefined,
  inputs: readonly string[],
): Promise<void> {
  const manifest = manifestPath(failed);
  const found = await readManifest(manifest);
  if (!isRefusal(found?.exit_reason)) return;
  const left = rejects === undefined ? [failed] : [failed, rejects + failedSuffix];
  for (const path of left) if (!inputs.includes(path)) await remove(path);
  // Remove the manifest last: the other files can be recognised only by it.
  if (inputs.includes(failed)) return;
  await remove(manifest);
}
