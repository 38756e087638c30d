import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { manifestPath } from "../../core/files/output-names.js";
import { readVersion } from "../../s3/read-object.js";
import { etagAt } from "../../s3/stored-object.js";
import { type FoundManifest, parseManifest } from "../../core/manifest/found-manifest.js";

/** What a run replaces in object storage, and which parts of a data set it adds. */
export interface UploadRecord {
  /** The object by which readers find the others: the rows, or the manifest of a data set. */
  readonly address: string;
  /** Its version when the run began; null if there was none, undefined if the store told none. */
  readonly etag?: string | null | undefined;
  /** Addresses of the parts that its manifest names. */
  readonly replaced: readonly string[];
  /** Addresses of the parts that the run adds. */
  readonly own: readonly string[];
}

/** The record in the folder of an upload; null if there is none. */
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

/** The record of an object as it is now. @throws ReputeError */
export async function currentRecord(address: string): Promise<UploadRecord> {
  if (address.endsWith(manifestPath("/"))) return setRecord(address, await manifestAt(address));
  return { address, etag: await etagAt(address), replaced: [], own: [] };
}

/** The record of a data set's manifest. */
export function setRecord(address: string, { etag, manifest }: StoredManifest): UploadRecord {
  return { address, etag, replaced: partsOf(address, manifest), own: [] };
}

/** Addresses of the parts that the manifest of a data set names. */
export function partsOf(address: string, manifest: FoundManifest | null): readonly string[] {
  const parts = manifest?.output?.parts;
  return parts?.map(({ name }) => `${dirname(address)}/${basename(name)}`) ?? [];
}

/** A manifest in object storage. */
interface StoredManifest extends Pick<UploadRecord, "etag"> {
  /** Null if there is none that can be read. */
  readonly manifest: FoundManifest | null;
}

/** @throws ReputeError */
export async function manifestAt(address: string): Promise<StoredManifest> {
  const found = await readVersion(address);
  if (found === null) return { etag: null, manifest: null };
  const etag = found.etag === "" ? undefined : found.etag;
  try {
    return { etag, manifest: parseManifest(JSON.parse(found.text), address) };
  } catch {
    return { etag, manifest: null };
  }
}
