import { UsageError } from "../../core/errors.js";
import { jsonFileFault, readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { manifestPath } from "../../core/files/output-names.js";
import {
  type FoundManifest,
  parseManifest,
  type Manifest,
  isRefusal,
} from "../../core/manifest.js";
import type { Output } from "./output.js";
import { defaultPrefix } from "./options.js";
import { outputFault } from "../../core/files/output-fault.js";

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
 * @param stateDir the folder of `--state-dir`, for the manifest of a table
 * @throws UsageError `manifest_missing`, `manifest_unreadable`
 */
export async function readManifest(
  output: Output,
  hint: string,
  stateDir?: string,
): Promise<FoundManifest> {
  const found = await manifestOfOutput(output, stateDir);
  if (found !== null) return found;
  const path = manifestPlace(output, stateDir);
  throw new UsageError("manifest_missing", `there is no ${path}`, { hint });
}

/** Where the manifest of an output is. */
export function manifestPlace({ object, base }: Output, stateDir?: string): string {
  return manifestPath(object?.address ?? base(stateDir));
}

/** The manifest of an output; null if there is none. @throws UsageError `manifest_unreadable` */
export async function manifestOfOutput(
  output: Output,
  stateDir?: string,
): Promise<FoundManifest | null> {
  const path = manifestPlace(output, stateDir);
  if (output.object === null) return parsed(path, () => readJsonFile(path));
  const { readText } = await import("../s3/read-object.js");
  const text = await readText(path);
  return parsed(path, () => JSON.parse(text ?? "null"));
}

async function parsed(path: string, read: () => unknown): Promise<FoundManifest | null> {
  try {
    return parseManifest(await read(), path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError("manifest_unreadable", `cannot read ${path}: ${jsonFileFault(error)}`, {
      cause: error,
      hint: "restore it from a copy",
    });
  }
}

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
