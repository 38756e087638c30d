import { manifestPath } from "../../../core/files/output-names.js";
import { isRefusal } from "../../../core/manifest/manifest.js";
import type { FoundManifest } from "../../../core/manifest/found-manifest.js";

export interface FailedPlace {
  readonly readManifest: (path: string) => Promise<FoundManifest | null>;
  readonly remove: (path: string) => Promise<void>;
}

/**
 * Removes the rows and the manifest that an earlier, refused run left. Needs that manifest to say
 * that they are a run's, and never removes this run's input.
 *
 * @param failed path of the rows, with the suffix
 */
export async function removeFailed(
  { readManifest, remove }: FailedPlace,
  failed: string,
  inputs: readonly string[],
): Promise<void> {
  const manifest = manifestPath(failed);
  const found = await readManifest(manifest);
  if (!isRefusal(found?.exit_reason)) return;
  if (inputs.includes(failed)) return;
  await remove(failed);
  // Remove the manifest last: the rows can be recognised only by it.
  await remove(manifest);
}
