import { UsageError } from "../../core/errors.js";
import { jsonFileFault, readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { manifestPath } from "../../core/files/output-names.js";
import { type FoundManifest, parseManifest, type Manifest } from "../../core/manifest.js";
import { isObjectAddress } from "../s3/address.js";
import type { Output } from "./output.js";
import { defaultPrefix } from "./options.js";
import { outputFault } from "../../core/files/system-fault.js";

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

/** Where the manifest of an output is. @param stateDir the folder of `--state-dir`, for a table */
export function manifestPlace({ object, base }: Output, stateDir?: string): string {
  return manifestPath(object?.address ?? base(stateDir));
}

/** The same as `readManifest`; null also for a manifest that cannot be read. */
export function storedManifest(place: string): Promise<FoundManifest | null> {
  return readManifest(place).catch((error: unknown) => {
    if (error instanceof UsageError && error.code === "manifest_unreadable") return null;
    throw error;
  });
}

/**
 * Reads a manifest; null if there is none. Another program may have written it, so any member may be
 * missing.
 *
 * @param place a path, or the address of an object
 * @throws UsageError `manifest_unreadable`
 */
export async function readManifest(place: string): Promise<FoundManifest | null> {
  const isObject = isObjectAddress(place);
  const text = isObject ? await (await import("../s3/objects.js")).readText(place) : null;
  try {
    const value = isObject ? JSON.parse(text ?? "null") : await readJsonFile(place);
    return parseManifest(value, place);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError("manifest_unreadable", `cannot read ${place}: ${jsonFileFault(error)}`, {
      cause: error,
      hint: "restore it from a copy",
    });
  }
}
