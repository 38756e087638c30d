import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { namedParts } from "../../outputs/data-set/data-set.js";
import { downloadObject } from "../../outputs/download-object.js";
import { isMissing, readText } from "../../s3/read-object.js";
import { etagAt } from "../../s3/stored-object.js";
import type { Manifest } from "../types.js";
import { manifestPath } from "./check-paths.js";

/** What a run replaces in object storage, and which parts of a data set it has put there. */
export interface UploadRecord {
  /** The object by which readers find the others: the rows, or the manifest of a data set. */
  readonly address: string;
  /** Its version when the run began; null if there was none, undefined if the store told none. */
  readonly etag?: string | null | undefined;
  /** Addresses of the parts that its manifest names. */
  readonly replaced: readonly string[];
  /** Addresses of the run's own parts. */
  readonly own: readonly string[];
  /** Those that are uploaded. */
  readonly sent: readonly string[];
}

/** The record in a staging folder; null if there is none. */
export async function readRecord(folder: string): Promise<UploadRecord | null> {
  const found = (await readJsonFile(pathIn(folder)).catch(() => null)) as UploadRecord | null;
  return Array.isArray(found?.own) && Array.isArray(found.replaced) ? found : null;
}

export async function keepRecord(folder: string, record: UploadRecord): Promise<void> {
  await writeJsonFile(pathIn(folder), record, 0o600);
}

export async function removeRecord(folder: string): Promise<void> {
  await rm(pathIn(folder), { force: true });
}

function pathIn(folder: string): string {
  return join(folder, "uploaded.json");
}

/** The record of an object: of the run's start, else of now. @throws ReputeError */
export async function findRecord(folder: string, address: string): Promise<UploadRecord> {
  const found = await readRecord(folder);
  if (found?.address === address) return found;
  const set = address.endsWith(manifestPath("/")) ? join(folder, "replaced/") : null;
  const record = await lookAt(address, set);
  await keepRecord(folder, record);
  return record;
}

/**
 * Finds which version of an object a run replaces.
 *
 * @param set folder for a copy, if it is the manifest of a data set
 * @throws ReputeError
 */
export async function lookAt(address: string, set: string | null): Promise<UploadRecord> {
  const none = { own: [], sent: [] };
  if (set === null) return { address, etag: await etagAt(address), replaced: [], ...none };
  const path = manifestPath(set);
  await mkdir(set, { recursive: true });
  await rm(path, { force: true });
  const pinned = await whole(() => downloadObject(address, path));
  const folder = `${dirname(address)}/`;
  const replaced = (await namedParts(set)).map(({ name }) => folder + basename(name));
  const etag = pinned === null ? null : pinned.etag || undefined;
  return { address, etag, replaced, ...none };
}

/** A manifest in object storage; null if there is none that can be read. @throws ReputeError */
export async function manifestAt(address: string): Promise<Partial<Manifest> | null> {
  const text = await whole(() => readText(address));
  try {
    return text === null ? null : (JSON.parse(text) as Partial<Manifest>);
  } catch {
    return null;
  }
}

/** Reads again if the object is replaced meanwhile; null if there is none. */
async function whole<T>(read: () => Promise<T>): Promise<T | null> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (isMissing(error)) return null;
      if (!(error instanceof FatalError && error.code === "input_changed")) throw error;
    }
  }
}
