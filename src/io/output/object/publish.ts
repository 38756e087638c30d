import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../../core/errors.js";
import type { FoundManifest } from "../../../core/manifest/found-manifest.js";
import { failedSuffix, manifestPath } from "../../../core/files/output-names.js";
import { checkObjectWritable } from "../../object/check-store.js";
import { etagAt, removeObject } from "../../object/stored-object.js";
import { abortUpload } from "../../object/upload-object.js";
import type { ObjectFile } from "../output.js";
import { removeFailed } from "./failed-output.js";
import { manifestAt, noteReplaced, removeRecord, sendObjects } from "./send-objects.js";

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
