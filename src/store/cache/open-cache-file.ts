import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { endianness } from "node:os";
import { join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { dataFile, environmentNames, openCacheEnvironment } from "./cache-environment.js";
import { CacheFile } from "./cache-file.js";
import { isAsClosed } from "./closed-mark.js";
import { checkLmdbFile, type FileState } from "./lmdb-check.js";

export interface CacheFileOptions {
  /** True: nothing is made, and nothing begun anew. Default false. */
  readonly readOnly?: boolean | undefined;
  /** Bytes of the file that may be resident at once. Default 24 MiB. */
  readonly mappedLimit?: number | undefined;
  /** Told when what was there had to go. */
  readonly onWarning: (message: string) => void;
}

/** A cache's files are in a folder of their own, so that they can be put aside in one step. */
export function storeFolder(cache: string): string {
  return join(cache, "findings");
}

/**
 * Opens the cache in a folder, a new one where there is none. One that another version of repute
 * wrote is put aside and begun anew.
 *
 * @returns null only with `readOnly`, when there is none that this version reads
 * @throws FatalError `cache_damaged`, or what the system says
 */
export async function openCacheFile(
  cache: string,
  options: CacheFileOptions & { readonly readOnly?: false | undefined },
): Promise<CacheFile>;
export async function openCacheFile(
  cache: string,
  options: CacheFileOptions,
): Promise<CacheFile | null>;
export async function openCacheFile(
  cache: string,
  options: CacheFileOptions,
): Promise<CacheFile | null> {
  const folder = storeFolder(cache);
  if (options.readOnly !== true) makeOwnFolder(folder);
  else if (!isComplete(folder)) return null;
  const environment =
    (await stateOf(cache)).state === "sound" ? await openCacheEnvironment(folder) : null;
  const limit = options.mappedLimit ?? 24 * 1024 * 1024;
  if (environment !== null) return new CacheFile(folder, environment, limit);

  if (options.readOnly === true) {
    options.onWarning(`another version of repute wrote the cache ${cache}; a run begins it anew`);
    return null;
  }
  options.onWarning(`another version of repute wrote the cache ${cache}; it is begun anew`);
  removeStore(cache);
  makeOwnFolder(folder);
  const fresh = await openCacheEnvironment(folder);
  if (fresh === null) throw new Error("another process is using it otherwise");
  return new CacheFile(folder, fresh, limit);
}

/** Removes a cache's files. Who has them open goes on with what nobody else will see. */
export function removeStore(cache: string): void {
  const aside = `${storeFolder(cache)}.${randomUUID()}`;
  renameSync(storeFolder(cache), aside);
  rmSync(aside, { recursive: true, force: true });
}

/** True when there is room for a transaction, with which LMDB must not be left alone. */
export function hasSpace(cache: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(storeFolder(cache));
  return bavail * bsize >= reserve + bytes;
}

/** What the cache leaves to those who need the disk more, in bytes. */
const reserve = 8 * 1024 * 1024;

/** True when there are files of every part. */
function isComplete(folder: string): boolean {
  return environmentNames.every((name) => existsSync(join(folder, name, dataFile)));
}

function makeOwnFolder(folder: string): void {
  makeFolder(folder, 0o700);
  chmodSync(folder, 0o700);
}

async function stateOf(cache: string): Promise<FileState> {
  const folder = storeFolder(cache);
  const paths = environmentNames.map((name) => join(folder, name, dataFile));
  const present = paths.filter((path) => existsSync(path) && statSync(path).size > 0);
  if (present.length < paths.length && !hasSpace(cache, 0)) {
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  }
  // What the check reads has the byte order of nearly every machine.
  if (isAsClosed(folder) || endianness() !== "LE") return { state: "sound" };
  for (const path of present) {
    const found = await checkLmdbFile(path);
    if (found.state === "sound") continue;
    if (found.state === "another version") return found;
    throw new FatalError("cache_damaged", `the cache ${cache} is damaged: ${found.damage}`, {
      hint: `remove it with repute cache clear ${cache}`,
    });
  }
  return { state: "sound" };
}
