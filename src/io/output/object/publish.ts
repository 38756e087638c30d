import { privateFolder } from "../../../core/files/folders.js";
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../../core/errors.js";
import { type FoundManifest, parseManifest } from "../../../core/manifest.js";
import { failedSuffix, manifestPath } from "../../../core/files/output-names.js";
import { readText } from "../../s3/read-object.js";
import { checkObjectWritable, etagAt, removeObject, writeObject } from "../../s3/write-object.js";
import type { ObjectFile } from "../output.js";
import { removeFailed } from "../manifest-file.js";
import { readJsonFile, writeJsonFile } from "../../../core/files/json-file.js";

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
  await mkdir(rows.folder, { recursive: true, ...privateFolder });
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
    const { address } = this.#rows;
    await this.withdraw();
    // As in the check of the store, a fault may have passed when the output is complete.
    const found = await this.#note(address).catch(() => null);
    if (version !== "" && found?.etag !== version) throw outputReplaced(address);
  }

  /**
   * Uploads what the run wrote: its rows, which tell readers which run is there, then its manifest.
   * Removes what it supersedes, `KEY.failed` of an earlier run among them. May be repeated.
   */
  async publish({ suffix, signal, inputs, onWarning }: PublishOptions): Promise<void> {
    const { path, address } = this.#rows;
    try {
      await this.#send(path + suffix, address + suffix, signal);
    } catch (error) {
      if (error instanceof FatalError && error.code === "output_replaced") await this.withdraw();
      if (!(error instanceof UsageError)) throw error;
      // Credentials and buckets may be gone when a run ends. Its files are kept, and it can be resumed.
      const { code, message, hint } = error;
      throw new FatalError(code, message, { cause: error, hint });
    }
    if (suffix !== "") return;
    const place = { readManifest: manifestAt, remove: removeObject };
    await removeFailed(place, address + failedSuffix, inputs).catch((error: Error) => {
      onWarning?.(`cannot remove KEY${failedSuffix} of an earlier run: ${error.message}`);
    });
  }

  async #send(path: string, address: string, signal: AbortSignal | undefined): Promise<void> {
    const noted = (await readJsonFile(this.#noted).catch(() => null)) as ReplacedObject | null;
    const { etag } = noted?.address === address ? noted : await this.#note(address);
    const written = await writeObject(address, { path }, { replaces: etag, signal });
    if (written === null) throw outputReplaced(address);
    const manifest = manifestPath(address);
    for (;;) {
      const replaces = await etagAt(manifest);
      const there = await etagAt(address);
      // The store may refuse to tell.
      if (there !== undefined && written !== "" && there !== written) throw outputReplaced(address);
      const content = { path: manifestPath(path) };
      if ((await writeObject(manifest, content, { replaces, signal })) !== null) return;
    }
  }

  /** Forgets which version the run replaces. */
  async withdraw(): Promise<void> {
    await rm(this.#noted, { force: true });
  }

  /** Manifest of the object that will be replaced; null if there is none. */
  async earlier(): Promise<FoundManifest | null> {
    const { address } = this.#rows;
    const manifest = await manifestAt(manifestPath(address));
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

  get #noted(): string {
    return join(this.folder, "replaced.json");
  }

  async #note(address: string): Promise<ReplacedObject> {
    const replaced = { address, etag: await etagAt(address) };
    await writeJsonFile(this.#noted, replaced, 0o600);
    return replaced;
  }
}

function outputReplaced(address: string): FatalError {
  const message = `another run has written ${address} since this one began`;
  return new FatalError("output_replaced", message, {
    hint: "its output stays; to replace it with the rows of this run, repeat the command, a run with --resume: nothing is asked again",
  });
}

/** What a run replaces in object storage. */
interface ReplacedObject {
  readonly address: string;
  /** Its version when the run began; null if there was none, undefined if the store told none. */
  readonly etag?: string | null | undefined;
}

/** Null also for a manifest that cannot be parsed. */
async function manifestAt(address: string): Promise<FoundManifest | null> {
  const text = await readText(address);
  try {
    return text === null ? null : parseManifest(JSON.parse(text), address);
  } catch {
    return null;
  }
}
