import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { downloadObject, isStill, type CopiedObjects } from "../../outputs/download-object.js";
import { isMissing, pinObject, readText } from "../../s3/read-object.js";
import { removeObject } from "../../s3/remove-object.js";
import { abortUpload, uploadObject } from "../../s3/upload-object.js";
import { withSuffix } from "../../outputs/data-set/data-set.js";
import {
  type StagedOutput,
  type PlacedOutput,
  uploadJournal,
} from "../../outputs/staged-output.js";
import type { Manifest } from "../types.js";
import { manifestPath } from "./check-paths.js";
import { failedSuffix, dataSetManifest } from "../../core/files/output-names.js";

/** The objects of a run. */
interface RunObjects {
  readonly rows: PlacedOutput | null;
  readonly rejects: PlacedOutput | null;
}

export interface UploadRunOptions {
  /** Appended to the names of the objects. */
  readonly suffix: string;
  readonly signal: AbortSignal | undefined;
  /** The files that a retry has read, which are not uploaded again if they stay the same. */
  readonly copied?: CopiedObjects | undefined;
  /** What the run reads, which stays. */
  readonly inputs: readonly string[];
  readonly onWarning: ((message: string) => void) | undefined;
}

/** Uploads the objects of a run, the manifest last, and removes `KEY.failed` of an earlier one. */
export async function uploadRun(
  objects: RunObjects,
  manifest: Manifest,
  options: UploadRunOptions,
): Promise<void> {
  await sendAll(objects, manifest, options);
  if (options.suffix !== "") return;
  await removeFailed(objects, options.inputs).catch((error: unknown) => {
    const { message } = error as Error;
    options.onWarning?.(`cannot remove KEY${failedSuffix} of an earlier run: ${message}`);
  });
}

async function sendAll(
  { rows, rejects }: RunObjects,
  manifest: Manifest,
  { suffix, signal, copied }: UploadRunOptions,
): Promise<void> {
  const send = (path: string, address: string, { folder }: StagedOutput) =>
    uploadObject({ path, address, journal: uploadJournal(folder), signal });
  if (rejects !== null) await send(rejects.path + suffix, rejects.address + suffix, rejects);
  if (rows === null) return;
  const from = withSuffix(rows.path, suffix);
  const to = withSuffix(rows.address, suffix);
  const { parts } = manifest.output;
  const sendManifest = () => send(manifestPath(from), manifestPath(to), rows);
  if (parts === undefined) {
    await send(from, to, rows);
    await sendManifest();
    return;
  }
  const replaced = await replacedParts(to, rows.folder);
  for (const { name } of parts) {
    const earlier = copied?.get(to + name);
    if (earlier !== undefined && (await isStill(earlier, from + name))) continue;
    await once(rows.folder, name, () => send(from + name, to + name, rows));
  }
  await sendManifest();
  const isNamed = new Set(parts.map(({ name }) => name));
  for (const name of replaced) if (!isNamed.has(name)) await removeObject(to + name);
}

/** Removes the objects of an earlier run with too many failures, which its manifest identifies. */
async function removeFailed(
  { rows, rejects }: RunObjects,
  inputs: readonly string[],
): Promise<void> {
  if (rows === null) return;
  const failed = withSuffix(rows.address, failedSuffix);
  if (failed.endsWith("/") && inputs.includes(failed)) return;
  const found = await manifestAt(failed);
  if (found?.exit_reason !== "too_many_failed") return;
  const parts = found.output?.parts?.map(({ name }) => failed + basename(name));
  const left = [
    ...(rejects === null ? [] : [rejects.address + failedSuffix]),
    ...(parts ?? [failed]),
  ];
  for (const address of left) if (!inputs.includes(address)) await removeObject(address);
  // The manifest goes last: the other objects can be recognised only by it.
  if (!inputs.includes(failed)) await removeObject(manifestPath(failed));
}

/** Rows of an object by its manifest; 0 if either is missing. */
export async function earlierRows(address: string): Promise<number> {
  const rows = (await manifestAt(address))?.output?.rows ?? 0;
  if (rows === 0 || address.endsWith("/")) return rows;
  return pinObject(address).then(
    () => rows,
    (error: unknown) => {
      if (isMissing(error)) return 0;
      throw error;
    },
  );
}

async function manifestAt(address: string): Promise<Partial<Manifest> | null> {
  const text = await readText(manifestPath(address));
  try {
    return text === null ? null : (JSON.parse(text) as Partial<Manifest>);
  } catch {
    return null;
  }
}

/** Gives up interrupted uploads. */
export async function abortUploads(journals: readonly string[]): Promise<void> {
  for (const journal of journals) await abortUpload(journal);
}

/** Fetches the manifest of the data set that will be replaced, whose names must not be used again. */
export async function fetchDataSet(address: string, { path }: StagedOutput): Promise<void> {
  await mkdir(path, { recursive: true });
  await downloadIfThere(manifestPath(address), join(path, dataSetManifest));
}

/** Names of the parts that readers use until the new manifest is there. */
async function replacedParts(address: string, folder: string): Promise<readonly string[]> {
  const list = join(folder, "replaced.json");
  if (!existsSync(list)) {
    const path = join(folder, "replaced-manifest.json");
    await downloadIfThere(manifestPath(address), path);
    const found = (await readJsonFile(path).catch(() => null)) as Partial<Manifest> | null;
    const names = (found?.output?.parts ?? []).map(({ name }) => basename(name));
    await writeJsonFile(list, names, 0o600);
  }
  const names = await readJsonFile(list).catch(() => null);
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

async function downloadIfThere(address: string, path: string): Promise<void> {
  await rm(path, { force: true });
  await downloadObject(address, path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

/** Does something that an interrupted upload has not done. */
async function once(folder: string, name: string, run: () => Promise<void>): Promise<void> {
  const path = join(folder, "uploaded.json");
  const found = await readJsonFile(path).catch(() => null);
  const done = Array.isArray(found) ? (found as readonly string[]) : [];
  if (done.includes(name)) return;
  await run();
  await writeJsonFile(path, [...done, name], 0o600);
}
