import { rm } from "node:fs/promises";
import { join } from "node:path";
import { FatalError } from "../../../core/errors.js";
import { readJsonFile, writeJsonFile } from "../../../core/files/json-file.js";
import { manifestPath } from "../../../core/files/output-names.js";
import { type FoundManifest, parseManifest } from "../../../core/manifest/found-manifest.js";
import { readVersion } from "../../object/read-object.js";
import { etagAt } from "../../object/stored-object.js";
import { type UploadOptions, uploadObject } from "../../object/upload-object.js";
import type { ObjectFile } from "../output.js";

interface SentFiles extends Pick<UploadOptions, "journal" | "signal"> {
  readonly rows: ObjectFile;
  /** Appended to the names of the objects. */
  readonly suffix: string;
}

/**
 * Notes which version of an object a new run replaces.
 *
 * @param version ETag of what the run has read to replace it; empty for any
 */
export async function noteReplaced(
  { address, folder }: ObjectFile,
  version: string,
): Promise<void> {
  await removeRecord(folder);
  // As in the check of the store, a fault may have passed when the output is complete.
  const found = await currentRecord(address).catch(() => null);
  if (version !== "" && found?.etag !== version) throw outputReplaced(address);
  if (found !== null) await keepRecord(folder, found);
}

/**
 * Uploads the rows of a run, which tell readers which run is there, and its manifest, which follows only
 * while they are the version that is expected.
 */
export async function sendObjects({ rows, suffix, ...options }: SentFiles): Promise<void> {
  const [path, address] = [rows.path + suffix, rows.address + suffix];
  const { etag } = await findRecord(rows.folder, address);
  const expected = await mustReplace({ path, address, ...options, replaces: etag });
  const mustBeExpected = async (): Promise<void> => {
    const there = await etagAt(address);
    // The store may refuse to tell.
    if (![there, expected].includes(undefined) && there !== expected) {
      throw outputReplaced(address);
    }
  };
  const note = { path: manifestPath(path), address: manifestPath(address), ...options };
  await sendWhile(mustBeExpected, note);
}

/** The record of an object: of the run's start, else of now. */
async function findRecord(folder: string, address: string): Promise<UploadRecord> {
  const found = await readRecord(folder);
  if (found?.address === address) return found;
  const record = await currentRecord(address);
  await keepRecord(folder, record);
  return record;
}

async function mustReplace(options: UploadOptions): Promise<string | undefined> {
  const etag = await uploadObject(options);
  if (etag === null) throw outputReplaced(options.address);
  return etag === "" ? undefined : etag;
}

/** Uploads a file that goes with another object, as long as that is the expected version. */
async function sendWhile(mustBeExpected: () => Promise<void>, file: UploadOptions): Promise<void> {
  for (;;) {
    const replaces = await etagAt(file.address);
    await mustBeExpected();
    if ((await uploadObject({ ...file, replaces })) !== null) return;
  }
}

function outputReplaced(address: string): FatalError {
  const message = `another run has written ${address} since this one began`;
  return new FatalError("output_replaced", message, {
    hint: "its output stays; to replace it with the rows of this run, repeat the command, a run with --resume: nothing is asked again",
  });
}

/** What a run replaces in object storage. */
interface UploadRecord {
  readonly address: string;
  /** Its version when the run began; null if there was none, undefined if the store told none. */
  readonly etag?: string | null | undefined;
}

async function readRecord(folder: string): Promise<UploadRecord | null> {
  return (await readJsonFile(pathIn(folder)).catch(() => null)) as UploadRecord | null;
}

async function keepRecord(folder: string, record: UploadRecord): Promise<void> {
  await writeJsonFile(pathIn(folder), record, 0o600);
}

export async function removeRecord(folder: string): Promise<void> {
  await rm(pathIn(folder), { force: true });
}

function pathIn(folder: string): string {
  return join(folder, "uploaded.json");
}

async function currentRecord(address: string): Promise<UploadRecord> {
  return { address, etag: await etagAt(address) };
}

interface StoredManifest extends Pick<UploadRecord, "etag"> {
  readonly manifest: FoundManifest | null;
}

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
