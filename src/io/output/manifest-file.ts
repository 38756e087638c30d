import { UsageError } from "../../core/errors.js";
import { jsonFileFault, readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { manifestPath } from "../../core/files/output-names.js";
import { type FoundManifest, parseManifest } from "../../core/manifest/found-manifest.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { isObjectAddress } from "../object/address.js";
import { defaultPrefix } from "./options.js";
import { outputFault } from "./output-fault.js";

/**
 * Prefix of an output's added columns: the one that was asked for, else the one that its manifest
 * notes, else the default.
 */
export function prefixOfOutput(asked: string | undefined, manifest: FoundManifest | null): string {
  return asked ?? manifest?.output?.prefix ?? defaultPrefix;
}

/**
 * Writes the manifest beside an output. Atomic: readers see the old or the new one.
 *
 * @param base path from which the names of the run's files derive
 * @throws FatalError `output_*`; an existing manifest stays as it was
 */
export async function writeManifest(base: string, manifest: Manifest): Promise<void> {
  const path = manifestPath(base);
  await writeJsonFile(path, manifest).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

/**
 * Reads the manifest beside an output. Another program may have written it, so any member may be
 * missing.
 *
 * @param hint advice for a missing manifest
 * @throws UsageError `manifest_missing`, `manifest_unreadable`
 */
export async function readManifest(base: string, hint: string): Promise<FoundManifest> {
  const found = await findManifest(base);
  if (found !== null) return found;
  throw new UsageError("manifest_missing", `there is no ${manifestPath(base)}`, { hint });
}

/** The same, but null where there is none. @throws UsageError `manifest_unreadable` */
export async function findManifest(base: string): Promise<FoundManifest | null> {
  const path = manifestPath(base);
  const text = isObjectAddress(path) ? await readObjectText(path) : undefined;
  try {
    const found = text === undefined ? await readJsonFile(path) : JSON.parse(text ?? "null");
    return parseManifest(found, path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError("manifest_unreadable", `cannot read ${path}: ${jsonFileFault(error)}`, {
      cause: error,
      hint: "restore it from a copy",
    });
  }
}

async function readObjectText(address: string): Promise<string | null> {
  return (await import("../object/read-object.js")).readText(address);
}
