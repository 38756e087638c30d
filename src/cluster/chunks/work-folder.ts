import { createReadStream, existsSync } from "node:fs";
import { link, open, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { FatalError } from "../../core/errors.js";
import { makeFolder, syncFolder } from "../../core/files/make-folder.js";
import { faultReason } from "../../core/files/system-fault.js";
import { outputFault } from "../../outputs/output-fault.js";
import { isObjectAddress } from "../../s3/address.js";
import { listObjects } from "../../s3/list-objects.js";
import { putObject } from "../../s3/put-object.js";
import { isMissing, pinObject, readObject, readText } from "../../s3/read-object.js";
import { removeObject } from "../../s3/stored-object.js";
import { uploadObject } from "../../s3/upload-object.js";
import { objectFolder } from "../../outputs/object-files.js";

/** Where a plan, its chunks and their results are kept: a folder, or objects. */
export interface WorkFolder {
  /** Name for messages and commands. */
  readonly name: string;
  /** Whether it is elsewhere, so that files are sent to it and fetched from it. */
  readonly isRemote: boolean;
  /** Makes the local folder. @throws FatalError `output_*` */
  prepare(): Promise<void>;
  /** The names stored in it; none if it does not exist. */
  list(): Promise<readonly string[]>;
  /** The names at `pathOf`, which attempts of this machine write. */
  localNames(): Promise<readonly string[]>;
  /** The text stored under a name; null if there is none. @throws FatalError `work_unreadable` */
  read(name: string): Promise<string | null>;
  /** Stores a text whole, unless the name is taken: then returns false. @throws FatalError `output_*` */
  publish(name: string, text: string): Promise<boolean>;
  /** Removes a name, if it exists. */
  remove(name: string): Promise<void>;
  /** Path or address of a stored name. */
  address(name: string): string;
  /** Local path at which `name` is written. */
  pathOf(name: string): string;
  /** Makes a file written at `pathOf(name)` readable for others. */
  keep(name: string, signal?: AbortSignal): Promise<void>;
  /** The bytes stored under a name; null if there is none. */
  open(name: string, signal?: AbortSignal): Promise<AsyncIterable<Buffer> | null>;
  /** Removes the local copy of a name that is stored elsewhere. */
  clear(name: string): Promise<void>;
  /** Removes what `prepare` made, unless it holds something. */
  close(): Promise<void>;
}

/** Opens the work folder of that name, a path or `s3://BUCKET/KEY`. @throws UsageError `bad_object_address` */
export function openWork(name: string): WorkFolder {
  return isObjectAddress(name) ? objectWork(name) : localWork(name);
}

/** A folder on a file system, which several machines may share. */
export function localWork(path: string): WorkFolder {
  const pathOf = (name: string): string => join(path, name);
  const list = () =>
    readdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw unreadable(path, error);
    });
  const done = () => Promise.resolve();
  return {
    name: path,
    isRemote: false,
    pathOf,
    address: pathOf,
    list,
    localNames: list,
    prepare: async () => createFolder(path),
    read: (name) =>
      readFile(pathOf(name), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw unreadable(pathOf(name), error);
      }),
    publish: (name, text) =>
      publishFile(path, pathOf(name), text).catch((error: unknown) => {
        throw outputFault(pathOf(name), error);
      }),
    remove: (name) => rm(pathOf(name), { recursive: true, force: true }),
    // The run that wrote it has synced file and folder.
    keep: done,
    open: async (name) => {
      const path = pathOf(name);
      return existsSync(path) ? createReadStream(path, { highWaterMark: 256 * 1024 }) : null;
    },
    clear: done,
    close: done,
  };
}

/** Creates a folder for this user alone. @throws FatalError `output_*` */
function createFolder(path: string): void {
  try {
    makeFolder(path, 0o700);
  } catch (error) {
    throw outputFault(path, error);
  }
}

/** A link appears at once and, unlike a rename, never replaces what another process published. */
async function publishFile(folder: string, path: string, text: string): Promise<boolean> {
  const fresh = `${path}.${randomUUID()}.new`;
  try {
    const handle = await open(fresh, "wx", 0o644);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(fresh, path).catch((error: NodeJS.ErrnoException) => {
      if (!noLinks.has(error.code ?? "") || existsSync(path)) throw error;
      return rename(fresh, path);
    });
  } catch (error) {
    if (existsSync(path)) return false;
    throw error;
  } finally {
    await rm(fresh, { force: true });
  }
  await syncFolder(folder);
  return true;
}

/** What file systems without links answer. */
const noLinks: ReadonlySet<string> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
  "EMLINK",
]);

function unreadable(path: string, error: unknown): FatalError {
  return new FatalError("work_unreadable", `cannot read ${path}: ${faultReason(error)}`, {
    cause: error,
    hint: "check that the folder is mounted, and its owner and mode",
  });
}

/**
 * A work folder in object storage. Files are written to a folder in the working directory and
 * uploaded from there.
 */
function objectWork(given: string): WorkFolder {
  const work = given.replace(/\/+$/, "");
  const folder = objectFolder(work);
  const address = (name: string): string => `${work}/${name}`;
  const pathOf = (name: string): string => join(folder, name);
  const removeLocal = (name: string) => rm(pathOf(name), { recursive: true, force: true });
  const unlessMissing = <T>(reading: Promise<T>): Promise<T | null> =>
    reading.catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
  return {
    name: work,
    isRemote: true,
    address,
    pathOf,
    list: () => listObjects(address("")),
    localNames: () => readdir(folder).catch(() => []),
    read: (name) => readText(address(name)),
    prepare: async () => createFolder(folder),
    publish: (name, text) => publishText(address(name), text),
    async remove(name) {
      await removeLocal(name);
      await removeObject(address(name));
    },
    async keep(name, signal) {
      const journal = pathOf(`${name}.upload`);
      await uploadObject({ path: pathOf(name), address: address(name), journal, signal });
    },
    open: (name, signal) =>
      unlessMissing(pinObject(address(name)).then((object) => readObject(object, { signal }))),
    clear: removeLocal,
    async close() {
      await rmdir(folder).catch(() => undefined);
    },
  };
}

/**
 * Writes a text unless there is an object already. A write whose answer was lost is repeated, and
 * finds its own text. Stores that ignore the condition keep the last one of several texts that are
 * written at the same moment.
 */
async function publishText(address: string, text: string): Promise<boolean> {
  const isFree = (await readText(address)) === null;
  return (
    (isFree && (await putObject(address, text, { onlyNew: true }))) ||
    (await readText(address)) === text
  );
}
