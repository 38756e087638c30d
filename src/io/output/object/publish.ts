import { privateFolder } from "../../../core/files/folders.js";
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../../core/errors.js";
import { manifestPath } from "../../../core/files/output-names.js";
import { checkObjectWritable, etagAt, writeObject } from "../../s3/objects.js";
import type { ObjectFile } from "../output.js";

/**
 * The objects of a run, which are uploaded from files when it is complete. What another run has
 * written since this one began stays.
 */
export class ObjectUpload {
  readonly #rows: ObjectFile;

  private constructor(rows: ObjectFile) {
    this.#rows = rows;
  }

  /** Prepares the local folder, once the object can be written. */
  static async open(rows: ObjectFile): Promise<ObjectUpload> {
    await checkObjectWritable(rows.address);
    await mkdir(rows.folder, { recursive: true, ...privateFolder });
    return new ObjectUpload(rows);
  }

  /** The local folder, which the state is in. */
  get folder(): string {
    return this.#rows.folder;
  }

  /**
   * Which version of the output a new run replaces, for `publish`; null if the store can't be asked.
   * Called under the run's lock.
   *
   * @param version ETag of what the run has read to replace it. @default any
   */
  async begin(version = ""): Promise<ReplacedObject | null> {
    const { address } = this.#rows;
    // As in the check of the store, a fault may have passed when the output is complete.
    const found = await versionAt(address).catch(() => null);
    if (version !== "" && found?.etag !== version) throw outputReplaced(address);
    return found;
  }

  /**
   * Uploads what the run wrote: its rows, which tell readers which run is there, then its manifest.
   * May be repeated.
   *
   * @param suffix appended to the names of the objects
   * @param notes keeps which version they replace
   */
  async publish(suffix: string, notes: UploadNotes, signal?: AbortSignal): Promise<void> {
    const { path, address } = this.#rows;
    try {
      await this.#send(path + suffix, address + suffix, notes, signal);
    } catch (error) {
      // The run may be repeated, and then replaces what is there.
      if (error instanceof FatalError && error.code === "output_replaced") notes.replaced = null;
      if (!(error instanceof UsageError)) throw error;
      // Credentials and buckets may be gone when a run ends. Its files are kept, and it can be resumed.
      const { code, message, hint } = error;
      throw new FatalError(code, message, { cause: error, hint });
    }
  }

  async #send(
    path: string,
    address: string,
    notes: UploadNotes,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (notes.replaced?.address !== address) notes.replaced = await versionAt(address);
    const { etag } = notes.replaced;
    const written = await writeObject(address, path, { replaces: etag, signal });
    if (written === null) throw outputReplaced(address);
    const manifest = manifestPath(address);
    for (;;) {
      const replaces = await etagAt(manifest);
      const there = await etagAt(address);
      // The store may refuse to tell.
      if (there !== undefined && written !== "" && there !== written) throw outputReplaced(address);
      const sent = await writeObject(manifest, manifestPath(path), { replaces, signal });
      if (sent !== null) return;
    }
  }

  /** Whether there is an object that will be replaced, as far as the store tells. */
  async replaces(): Promise<boolean> {
    return (await etagAt(this.#rows.address)) !== null;
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
}

async function versionAt(address: string): Promise<ReplacedObject> {
  return { address, etag: await etagAt(address) };
}

function outputReplaced(address: string): FatalError {
  const message = `another run has written ${address} since this one began`;
  return new FatalError("output_replaced", message, {
    hint: "its output stays; to replace it with the rows of this run, repeat the command, a run with --resume: nothing is asked again",
  });
}

/** What a run keeps of its upload. */
interface UploadNotes {
  replaced: ReplacedObject | null;
}

/** What a run replaces in object storage. */
export interface ReplacedObject {
  readonly address: string;
  /** Its version when the run began; null if there was none, undefined if the store told none. */
  readonly etag?: string | null | undefined;
}
