import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";

/** Counts up when what the files hold is laid out differently. */
const format = 1;

/** The files of a cache's LMDB environment, within its folder. */
export const environmentFiles = { data: "data.mdb", lock: "lock.mdb" } as const;

/** The parts of a cache's LMDB environment. */
export interface CacheEnvironment {
  readonly root: RootDatabase;
  /** Place of an entry (session and number) → entry. */
  readonly entries: Database<Buffer, Buffer>;
  /** Hash of an entry's key → place of the newest such entry. */
  readonly index: Database<Buffer, Buffer>;
}

/**
 * Opens the environment in a folder, a new one where there is none, for its owner alone.
 *
 * @returns null when another version of repute wrote it, or something else did
 */
export async function openCacheEnvironment(folder: string): Promise<CacheEnvironment | null> {
  // Without `noSubdir` a folder whose name has a dot would be taken for a file.
  const root = open({ path: folder, noSubdir: false, maxDbs: 3 });
  for (const name of Object.values(environmentFiles)) {
    const path = join(folder, name);
    if (existsSync(path)) chmodSync(path, 0o600);
  }
  const bytes = { encoding: "binary", keyEncoding: "binary" } as const;
  const about = root.openDB<number, string>({ name: "about", encoding: "json" });
  const entries = root.openDB<Buffer, Buffer>({ name: "entries", ...bytes });
  const index = root.openDB<Buffer, Buffer>({ name: "index", ...bytes });
  const found = about.get("format");
  if (found === format) return { root, entries, index };
  const isNew = found === undefined && entries.getKeysCount({ limit: 1 }) === 0;
  if (isNew && root.getKeysCount({ limit: 4 }) <= 3) {
    about.putSync("format", format);
    return { root, entries, index };
  }
  await root.close();
  return null;
}
