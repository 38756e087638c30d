import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import type { FoundManifest } from "../../core/manifest/found-manifest.js";
import { failedSuffix, manifestPath } from "../../core/files/output-names.js";
import { checkObjectWritable } from "../../s3/check-store.js";
import { etagAt, removeObject } from "../../s3/stored-object.js";
import { abortUpload } from "../../s3/upload-object.js";
import { type ObjectFile, objectFile } from "../object-files.js";
import type { SinkSettings } from "../options.js";
import { removeFailed } from "./failed-output.js";
import { manifestAt, noteReplaced, removeRecord, sendObjects } from "./send-objects.js";

type UploadSettings = Pick<SinkSettings, "output" | "rejects">;

interface PublishOptions {
  /** Appended to the names of the objects. */
  readonly suffix: string;
  readonly signal: AbortSignal | undefined;
  /** What the run reads, which stays. */
  readonly inputs: readonly string[];
  readonly onWarning: ((message: string) => void) | undefined;
}

/**
 * Prepares the local folders of a run that writes to object storage, once its objects can be written.
 *
 * @param pattern the names with the words that stand for a run: its local folders are those of all runs
 */
export async function openUpload(
  settings: UploadSettings,
  pattern = settings,
): Promise<ObjectUpload> {
  const upload = new ObjectUpload(settings, pattern);
  for (const { address } of upload.files) await checkObjectWritable(address);
  for (const { folder } of upload.files) await mkdir(folder, { recursive: true, mode: 0o700 });
  return upload;
}

/**
 * The objects of a run, which are uploaded from files when it is complete. What another run has
 * written since this one began stays.
 */
export class ObjectUpload {
  readonly files: readonly ObjectFile[];
  readonly settings: UploadSettings;
  /** The local folder that the state is in; undefined if only the rejects are uploaded. */
  readonly folder: string | undefined;
  readonly #rows: ObjectFile | null;
  readonly #rejects: ObjectFile | null;

  constructor({ output, rejects }: UploadSettings, pattern: UploadSettings) {
    this.#rows = objectFile(output, pattern.output);
    this.#rejects = rejects === undefined ? null : objectFile(rejects, pattern.rejects);
    this.files = [this.#rows, this.#rejects].filter((file) => file !== null);
    this.settings = {
      output: this.#rows?.path ?? output,
      rejects: this.#rejects?.path ?? rejects,
    };
    this.folder = this.#rows?.folder;
  }

  /**
   * Notes which version of the output a new run replaces. Called under its lock.
   *
   * @param version ETag of what the run has read to replace it. @default any
   */
  async begin(version = ""): Promise<void> {
    await noteReplaced(this.#main, version);
  }

  /**
   * Uploads what the run wrote, and removes what it supersedes, `KEY.failed` of an earlier run among
   * them. May be repeated.
   */
  async publish(options: PublishOptions): Promise<void> {
    const { suffix, signal, inputs, onWarning } = options;
    const [rows, rejects, { folder }] = [this.#rows, this.#rejects, this.#main];
    try {
      await sendObjects({ rows, rejects, folder, journal: this.#journal, suffix, signal });
    } catch (error) {
      if (error instanceof FatalError && error.code === "output_replaced") {
        await this.withdraw();
      }
      throw resumable(error);
    }
    if (suffix !== "" || rows === null) return;
    const failed = rows.address + failedSuffix;
    const readManifest = async (path: string) => (await manifestAt(path)).manifest;
    const place = { readManifest, remove: removeObject };
    await removeFailed(place, failed, rejects?.address, inputs).catch((error: Error) => {
      onWarning?.(`cannot remove KEY${failedSuffix} of an earlier run: ${error.message}`);
    });
  }

  /** Gives up the upload of a run. */
  async withdraw(): Promise<void> {
    const { folder } = this.#main;
    await abortUpload(this.#journal);
    await removeRecord(folder);
  }

  /** Manifest of the object that will be replaced; null if there is none or the rows stay local. */
  async earlier(): Promise<FoundManifest | null> {
    if (this.#rows === null) return null;
    const { address } = this.#rows;
    const { manifest } = await manifestAt(manifestPath(address));
    return (await etagAt(address)) === null ? null : manifest;
  }

  /** Removes the local files, and their folders unless a state folder is still in them. */
  clean(state?: string): void {
    for (const { folder } of this.files) {
      for (const name of existsSync(folder) ? readdirSync(folder) : []) {
        const path = join(folder, name);
        if (path !== state) rmSync(path, { recursive: true, force: true });
      }
    }
    this.cleanEmpty();
  }

  cleanEmpty(): void {
    for (const { folder } of this.files) {
      try {
        rmdirSync(folder);
      } catch {
        // Something is still in it, or it is gone.
      }
    }
  }

  /** The file whose folder keeps what a resume needs. */
  get #main(): ObjectFile {
    const [main] = this.files;
    if (main === undefined) throw new TypeError("an upload needs an object");
    return main;
  }

  /** File that keeps the progress of a multipart upload. */
  get #journal(): string {
    return join(this.#main.folder, "upload.json");
  }
}

/** Credentials and buckets may be gone when a run ends. Its files are kept, and it can be resumed. */
function resumable(error: unknown): unknown {
  if (!(error instanceof UsageError)) return error;
  const { code, message, hint } = error;
  return new FatalError(code, message, { cause: error, ...(hint === null ? {} : { hint }) });
}
