import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { open } from "./lmdb.js";
import { throughGate } from "./lmdb-gate.js";
import { mapSize } from "./mapped-memory.js";

/** Counts up when what the files hold is laid out differently. */
const format = 1;

/** The LMDB environments of a cache, each in a folder of this name. */
export const environmentNames = ["entries", "index"] as const;

/** The file of an environment, within its folder, that holds everything. */
export const dataFile = "data.mdb";

/**
 * The two LMDB environments of a cache. The index has its own because every look at it may be
 * anywhere in its file: apart from the entries that is a small file, which memory can hold.
 */
export interface CacheEnvironment {
  readonly roots: readonly RootDatabase[];
  /** Place of an entry (session and number) → entry. */
  readonly entries: Database<Buffer, Buffer>;
  /** Hash of an entry's key → place of the newest such entry. */
  readonly index: Database<Buffer, Buffer>;
}

/**
 * Opens the environments in a folder, new ones where there are none, for its owner alone.
 *
 * @returns null when another version of repute wrote them, or something else did
 */
export function openCacheEnvironment(folder: string): Promise<CacheEnvironment | null> {
  return throughGate(folder, () => openAll(folder), { unguarded: true });
}

async function openAll(folder: string): Promise<CacheEnvironment | null> {
  const roots: RootDatabase[] = [];
  try {
    for (const name of environmentNames) roots.push(openRoot(join(folder, name)));
    const [entriesRoot, indexRoot] = roots as [RootDatabase, RootDatabase];
    const bytes = { encoding: "binary", keyEncoding: "binary" } as const;
    const entries = entriesRoot.openDB<Buffer, Buffer>({ name: "entries", ...bytes });
    const about = entriesRoot.openDB<number, string>({ name: "about", encoding: "json" });
    const index = indexRoot.openDB<Buffer, Buffer>({ name: "index", ...bytes });
    const found = about.get("format");
    const isNew = found === undefined && entries.getKeysCount({ limit: 1 }) === 0;
    if (isNew) about.putSync("format", format);
    if (isNew || found === format) return { roots, entries, index };
  } catch (error) {
    await closeAll(roots);
    throw error;
  }
  await closeAll(roots);
  return null;
}

/** Closes environments when what was written to them is flushed; to be done behind the gate. */
export async function closeAll(roots: readonly RootDatabase[]): Promise<void> {
  for (const root of roots) {
    await root.flushed;
    await root.close();
  }
}

function openRoot(path: string): RootDatabase {
  const root = open({
    path,
    // Otherwise a folder whose name has a dot would be taken for a file.
    noSubdir: false,
    maxDbs: 2,
    // While LMDB maps a file anew because another process made it longer, the thread that writes
    // may be doing so as well, and the process ends. So the map is large enough from the beginning.
    mapSize,
    // With it a process that ends while it flushes can make the others lose what they wrote.
    overlappingSync: false,
  });
  keepToOwner(path, 0o700);
  for (const name of [dataFile, "lock.mdb"]) keepToOwner(join(path, name), 0o600);
  return root;
}

/** Sets a mode where it is another one: setting it changes the file's times. */
function keepToOwner(path: string, mode: number): void {
  const found = statSync(path, { throwIfNoEntry: false })?.mode;
  if (found !== undefined && (found & 0o777) !== mode) chmodSync(path, mode);
}

/** Why a transaction failed; LMDB tells it by a promise of its own. */
export async function causeOf(error: unknown): Promise<unknown> {
  try {
    await (error as { commitError?: Promise<unknown> }).commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}
