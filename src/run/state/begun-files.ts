import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openSealedJson, replaceFile, sealJson } from "../../core/files/json-file.js";
import { removePart } from "../../outputs/file-destination.js";
import { outputFault } from "../../outputs/output-fault.js";

/** Names the files that a run writes, where another run of the same state writes others. */
export const begunName = "begun.json";

/** Notes the files that a run is about to write, and removes what an earlier one has left of its own. */
export async function noteFiles(folder: string, files: readonly string[]): Promise<void> {
  await removeBegun(folder);
  const path = join(folder, begunName);
  await replaceFile(path, `${sealJson({ files })}\n`, 0o600).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

/** Removes the unfinished files of the run that is given up. */
export async function removeBegun(folder: string): Promise<void> {
  const text = await readFile(join(folder, begunName), "utf8").catch(() => null);
  const noted = text === null ? null : openSealedJson(text);
  const { files = [] } = (noted ?? {}) as { readonly files?: readonly string[] };
  for (const file of files) await removePart(file);
}
