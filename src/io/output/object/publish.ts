import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../../core/errors.js";
import { type FoundManifest, parseManifest } from "../../../core/manifest.js";
import { failedSuffix, manifestPath } from "../../../core/files/output-names.js";
import { checkObjectWritable } from "../../s3/put-object.js";
import { etagAt, removeObject } from "../../s3/stored-object.js";
import { abortUpload, type UploadOptions, uploadObject } from "../../s3/upload-object.js";
import type { ObjectFile } from "../output.js";
import { removeFailed } from "../manifest-file.js";
import { readJsonFile, writeJsonFile } from "../../../core/files/json-file.js";
import { readVersion } from "../../s3/read-object.js";

interface PublishOptions {
  /** Appended to the names of the objects. */
  readonly suffix: string;
  readonly signal: AbortSignal | undefined;
  /** What the run reads, which stays. */
  readonly inputs: readonly string[];
  readonly onWarning: ((message: string) => void) | undefined;
}

/** Prepares the local folder of a run that writes to object storage, once its object can be written. */
export async function openUpload(rows: ObjectFile): Promise<ObjectUpload> {
  await checkObjectWritable(rows.address);
  await mkdir(rows.folder, { recursive: true, mode: 0o700 });
  return new ObjectUpload(rows);
}

/**
 * The objects of a run, which are uploaded from files when it is complete. What another run has
 * written since this one began stays.
 */
export class ObjectUpload {
  readonly #rows: ObjectFile;

  constructor(rows: ObjectFile) {
    this.#rows = rows;
  }

  /** Path of the local rows. */
  get path(): string {
    return this.#rows.path;
  }

  /** The local folder, which the state is in. */
  get folder(): string {
    return this.#rows.folder;
  }

  /**
   * Notes which version of the output a new run replaces. Called under its lock.
   *
   * @param version ETag of what the run has read to replace it. @default any
   */
  async begin(version = ""): Promise<void> {
    await noteReplaced(this.#rows, version);
  }

  /**
   * Uploads what the run wrote, and removes what it supersedes, `KEY.failed` of an earlier run among
   * them. May be repeated.
   */
  async publish(options: PublishOptions): Promise<void> {
    const { suffix, signal, inputs, onWarning } = options;
    const rows = this.#rows;
    try {
      await sendObjects({ rows, journal: this.#journal, suffix, signal });
    } catch (error) {
      if (error instanceof FatalError && error.code === "output_replaced") {
        await this.withdraw();
      }
      throw resumable(error);
    }
    if (suffix !== "") return;
    const failed = rows.address + failedSuffix;
    const readManifest = async (path: string) => (await manifestAt(path)).manifest;
    const place = { readManifest, remove: removeObject };
    await removeFailed(place, failed, inputs).catch((error: Error) => {
      onWarning?.(`cannot remove KEY${failedSuffix} of an earlier run: ${error.message}`);
    });
  }

  /** Gives up the upload of a run. */
  async withdraw(): Promise<void> {
    await abortUpload(this.#journal);
    await removeRecord(this.folder);
  }

  /** Manifest of the object that will be replaced; null if there is none. */
  async earlier(): Promise<FoundManifest | null> {
    const { address } = this.#rows;
    const { manifest } = await manifestAt(manifestPath(address));
    return (await etagAt(address)) === null ? null : manifest;
  }

  /** Removes the local files, and their folder unless a state folder is still in it. */
  clean(state?: string): void {
    const { folder } = this;
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const path = join(folder, name);
      if (path !== state) rmSync(path, { recursive: true, force: true });
    }
    this.cleanEmpty();
  }

  cleanEmpty(): void {
    try {
      rmdirSync(this.folder);
    } catch {
      // Something is still in it, or it is gone.
    }
  }

  /** File that keeps the progress of a multipart upload. */
  get #journal(): string {
    return join(this.folder, "upload.json");
  }
}

/** Credentials and buckets may be gone when a run ends. Its files are kept, and it can be resumed. */
function resumable(error: unknown): unknown {
  if (!(error instanceof UsageError)) return error;
  const { code, message, hint } = error;
  return new FatalError(code, message, { cause: error, ...(hint === null ? {} : { hint }) });
}

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
async function noteReplaced({ address, folder }: ObjectFile, version: string): Promise<void> {
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
async function sendObjects({ rows, suffix, ...options }: SentFiles): Promise<void> {
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

async function removeRecord(folder: string): Promise<void> {
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

async function manifestAt(address: string): Promise<StoredManifest> {
  const found = await readVersion(address);
  if (found === null) return { etag: null, manifest: null };
  const etag = found.etag === "" ? undefined : found.etag;
  try {
    return { etag, manifest: parseManifest(JSON.parse(found.text), address) };
  } catch {
    return { etag, manifest: null };
  }
}
