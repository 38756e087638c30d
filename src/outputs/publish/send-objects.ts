import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { manifestPath } from "../../core/files/output-names.js";
import { type FoundManifest, parseManifest } from "../../core/manifest/found-manifest.js";
import { readVersion } from "../../s3/read-object.js";
import { etagAt, removeObject } from "../../s3/stored-object.js";
import { type UploadOptions, uploadObject } from "../../s3/upload-object.js";
import { withSuffix } from "../data-set/data-set.js";
import type { ObjectFile } from "../object-files.js";
import type { Manifest } from "../../core/manifest/manifest.js";

/** What an upload needs to know of the run's manifest. */
export type UploadedRun = Pick<Manifest, "run_id" | "ended_at"> & {
  readonly output: Pick<Manifest["output"], "parts">;
};

interface SentFiles extends Pick<UploadOptions, "journal" | "signal"> {
  readonly rows: ObjectFile | null;
  readonly rejects: ObjectFile | null;
  readonly folder: string;
  /** Appended to the names of the objects. */
  readonly suffix: string;
}

/**
 * Notes which version of an object a new run replaces.
 *
 * @param version ETag of what the run has read to replace it; empty for any
 */
export async function noteReplaced(
  { address, path, folder }: ObjectFile,
  version: string,
): Promise<void> {
  await removeRecord(folder);
  if (!address.endsWith("/")) {
    // As in the check of the store, a fault may have passed when the output is complete.
    const found = await currentRecord(address).catch(() => null);
    if (version !== "" && found?.etag !== version) throw outputReplaced(address);
    if (found !== null) await keepRecord(folder, found);
    return;
  }
  const note = manifestPath(address);
  const found = await manifestAt(note);
  if (version !== "" && found.etag !== version) throw outputReplaced(note);
  // Parts whose content stays the same keep their names.
  await mkdir(path, { recursive: true });
  await writeJsonFile(manifestPath(path), found.manifest);
  await keepRecord(folder, setRecord(note, found));
}

/**
 * Uploads the files of a run and removes the parts that it replaces. One object tells readers which
 * run is there: the rows, or the manifest of a data set. The others follow, or precede it, only while
 * it is the version that is expected.
 */
export async function sendObjects(
  run: UploadedRun,
  { rows, rejects, folder, suffix, ...options }: SentFiles,
): Promise<void> {
  const named = ({ path, address }: ObjectFile): UploadOptions => ({
    path: withSuffix(path, suffix),
    address: withSuffix(address, suffix),
    ...options,
  });
  const files = [rows, rejects].filter((file) => file !== null).map(named);
  const [first] = files;
  if (first === undefined) return;
  const { path, address } = first;
  const note = { ...first, path: manifestPath(path), address: manifestPath(address) };
  if (rows !== null) files.push(note);
  const isSet = rows !== null && address.endsWith("/");
  if (isSet) files.shift();
  const main = isSet ? note : first;
  const record = await findRecord(folder, main.address);
  let expected = isSet ? await replaceable(record, run) : record.etag;
  const mustBeExpected = async (): Promise<void> => {
    const there = await etagAt(main.address);
    // The store may refuse to tell.
    if (![there, expected].includes(undefined) && there !== expected) {
      throw outputReplaced(main.address);
    }
  };
  const parts = isSet ? (run.output.parts ?? []).map(({ name }) => address + name) : [];
  if (isSet) {
    await mustBeExpected();
    const isKept = (part: string): boolean => record.replaced.includes(part);
    await keepRecord(folder, { ...record, own: parts.filter((part) => !isKept(part)) });
    for (const part of parts) {
      // It keeps its name because its content is the same.
      if (isKept(part) && (await etagAt(part)) !== null) continue;
      const file = path + basename(part);
      await mustReplace({ ...options, path: file, address: part, replaces: null });
    }
  }
  for (const file of files) {
    if (file === main) expected = await mustReplace({ ...main, replaces: expected });
    else await sendWhile(mustBeExpected, file);
  }
  for (const part of record.replaced) if (!parts.includes(part)) await removeObject(part);
}

/** Removes the parts of a run that is given up, unless readers use them. */
export async function withdrawObjects(folder: string): Promise<void> {
  const { address = "", own = [], replaced = [] } = (await readRecord(folder)) ?? {};
  if (own.length > 0) {
    const named = partsOf(address, (await manifestAt(address)).manifest);
    const unused = own.every((part) => named.includes(part)) ? replaced : own;
    for (const part of unused) if (!named.includes(part)) await removeObject(part);
  }
  await removeRecord(folder);
}

/** The record of an object: of the run's start, else of now. */
async function findRecord(folder: string, address: string): Promise<UploadRecord> {
  const found = await readRecord(folder);
  if (found?.address === address) return found;
  const record = await currentRecord(address);
  await keepRecord(folder, record);
  return record;
}

/** The version of a manifest that may be replaced: that found at the start, or this run's. */
async function replaceable(
  { address, etag }: UploadRecord,
  { run_id, ended_at }: UploadedRun,
): Promise<string | null | undefined> {
  const now = await manifestAt(address);
  const isOwn = now.manifest?.run_id === run_id && now.manifest.ended_at === ended_at;
  return isOwn ? now.etag : etag;
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

/** What a run replaces in object storage, and which parts of a data set it adds. */
interface UploadRecord {
  /** The object by which readers find the others: the rows, or the manifest of a data set. */
  readonly address: string;
  /** Its version when the run began; null if there was none, undefined if the store told none. */
  readonly etag?: string | null | undefined;
  readonly replaced: readonly string[];
  readonly own: readonly string[];
}

async function readRecord(folder: string): Promise<UploadRecord | null> {
  const found = (await readJsonFile(pathIn(folder)).catch(() => null)) as UploadRecord | null;
  return Array.isArray(found?.own) && Array.isArray(found.replaced) ? found : null;
}

async function keepRecord(folder: string, record: UploadRecord): Promise<void> {
  await writeJsonFile(pathIn(folder), record, 0o600);
}

async function removeRecord(folder: string): Promise<void> {
  await rm(pathIn(folder), { force: true });
}

function pathIn(folder: string): string {
  return join(folder, "uploaded.json");
}

async function currentRecord(address: string): Promise<UploadRecord> {
  if (address.endsWith(manifestPath("/"))) return setRecord(address, await manifestAt(address));
  return { address, etag: await etagAt(address), replaced: [], own: [] };
}

function setRecord(address: string, { etag, manifest }: StoredManifest): UploadRecord {
  return { address, etag, replaced: partsOf(address, manifest), own: [] };
}

function partsOf(address: string, manifest: FoundManifest | null): readonly string[] {
  const parts = manifest?.output?.parts;
  return parts?.map(({ name }) => `${dirname(address)}/${basename(name)}`) ?? [];
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
