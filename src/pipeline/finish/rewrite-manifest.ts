import { writeJsonFile } from "../../core/files/json-file.js";
import { outputFault } from "../../outputs/output-fault.js";
import { manifestPath } from "./manifest.js";
import { outputBase } from "../output/output-base.js";
import type { Manifest } from "../types.js";

/**
 * Replaces the manifest beside the output of a run that has more to tell; a reader finds the old or
 * the new one. Of rows that went to stdout there is none.
 *
 * @param output as it was given
 * @throws FatalError `output_*`; the file stays as it was
 */
export async function rewriteManifest(output: string, manifest: Manifest): Promise<void> {
  if (manifest.output.path === null) return;
  const path = manifestPath(outputBase(output));
  await writeJsonFile(path, manifest).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}
