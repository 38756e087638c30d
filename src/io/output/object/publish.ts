import { privateFolder } from "../../../core/files/folders.js";
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../../core/errors.js";
import { manifestPath } from "../../../core/files/output-names.js";
import { checkObjectWritable, etagAt, writeObject } from "../../s3/objects.js";
import type { ObjectFile } from "../output.js";

/**
 * Opens the objects of a run, which are uploaded from files when it is complete. What another run has
 * written since this one began stays. Prepares the local folder, once the object can be written.
 */
export async function openUpload({ address, path, folder }: ObjectFile) {
  await checkObjectWritable(address);
  await mkdir(folder, { recursive: true, ...privateFolder });
  const cleanEmpty = (): void => {
    try {
      rmdirSync(folder);
    } catch {
      // Something is still in it, or it is gone.
    }
  };
  return {
    /** The local folder, which the state is in. */
    folder,
    cleanEmpty,
    /**
     * Which version of the output a new run replaces, for `publish`; null if the store can't be asked.
     * Called under the run's lock.
     *
     * @param version ETag of what the run has read to replace it. @default any
     */
    async begin(version = ""): Promise<ReplacedObject | null> {
      // As in the check of the store, a fault may have passed when the output is complete.
      const found = await versionAt(address).catch(() => null);
      if (version !== "" && found?.etag !== version) throw outputReplaced(address);
      return found;
    },
    /**
     * Uploads what the run wrote: its rows, which tell readers which run is there, then its manifest.
     * May be repeated.
     *
     * @param suffix appended to the names of the objects
     * @param notes keeps which version they replace
     */
    publish: (suffix: string, notes: UploadNotes, signal?: AbortSignal): Promise<void> =>
      send(path + suffix, address + suffix, notes, signal),
    /** Whether there is an object that will be replaced, as far as the store tells. */
    replaces: async (): Promise<boolean> => (await etagAt(address)) !== null,
    /** Removes the local files, and their folder unless a state folder is still in it. */
    clean(state?: string): void {
      for (const name of existsSync(folder) ? readdirSync(folder) : []) {
        const file = join(folder, name);
        if (file !== state) rmSync(file, { recursive: true, force: true });
      }
      cleanEmpty();
    },
  };
}

export type ObjectUpload = Awaited<ReturnType<typeof openUpload>>;

async function send(
  path: string,
  address: string,
  notes: UploadNotes,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    let { replaced } = notes.facts;
    if (replaced?.address !== address) {
      replaced = await versionAt(address);
      notes.note({ replaced });
    }
    const { etag } = replaced;
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
  } catch (error) {
    // The run may be repeated, and then replaces what is there.
    if (error instanceof FatalError && error.code === "output_replaced")
      notes.note({ replaced: null });
    if (!(error instanceof UsageError)) throw error;
    // Credentials and buckets may be gone when a run ends. Its files are kept, and it can be resumed.
    const { code, message, hint } = error;
    throw new FatalError(code, message, { cause: error, hint });
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
  readonly facts: { readonly replaced: ReplacedObject | null };
  note(notes: { readonly replaced: ReplacedObject | null }): void;
}

/** What a run replaces in object storage. */
export interface ReplacedObject {
  readonly address: string;
  /** Its version when the run began; null if there was none, undefined if the store told none. */
  readonly etag?: string | null | undefined;
}
