import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { bootNumber } from "./boot-number.js";
import {
  readCount,
  readSnapshot,
  readTreeRecord,
  type Snapshot,
  treeRecordBytes,
  unreadable,
} from "./lmdb-meta.js";
import { nodeFlags } from "./lmdb-page.js";
import { Damage, TreeWalk } from "./lmdb-tree.js";

/** What became of an LMDB file. */
export type FileState =
  | { readonly state: "sound" }
  | { readonly state: "another version" }
  /** `damage` is the end of a sentence that begins with "it" or names a part. */
  | { readonly state: "damaged"; readonly damage: string };

/**
 * Tells whether an LMDB file can be opened without danger. LMDB itself trusts its file: a page that
 * lies beyond a file's end ends the process with SIGBUS, a length that is wrong with SIGSEGV. So
 * the file is read first, all of it, without mapping it (format: mdb.c of lmdb-js, data version 2).
 *
 * A file in which another process is writing may look damaged because its pages are used anew
 * meanwhile; it is looked at again then, and one that goes on changing is taken for sound: whoever
 * writes it has had it open.
 */
export async function checkLmdbFile(path: string): Promise<FileState> {
  for (let attempt = 1; ; attempt++) {
    const before = latestTransaction(path);
    const found = await checkOnce(path);
    if (found.state !== "damaged") return found;
    await delay(attempt === 1 ? 20 : 100);
    if (latestTransaction(path) === before) return found;
    if (attempt === attempts) return { state: "sound" };
  }
}

const attempts = 5;

async function checkOnce(path: string): Promise<FileState> {
  const file = openSync(path, "r");
  try {
    const head = readHead(file);
    const reason = unreadable(head);
    if (reason === "another version of LMDB") return { state: "another version" };
    if (reason !== null) return { state: "damaged", damage: "it is no store" };
    return await checkSnapshots(file, snapshotsOf(head));
  } finally {
    closeSync(file);
  }
}

async function checkSnapshots(
  file: number,
  snapshots: readonly (Snapshot | null)[],
): Promise<FileState> {
  try {
    const latest = newest(snapshots);
    if (latest === null || snapshots.includes(null)) throw new Damage("its beginning is damaged");
    // After another boot LMDB goes back to what was flushed for certain.
    const sameBoot = latest.boot !== 0n && latest.boot === bootNumber();
    const used = sameBoot
      ? [latest]
      : snapshots.filter((each) => each !== null && each.transaction > 0);
    for (const snapshot of used.length === 0 ? [latest] : used) {
      if (snapshot !== null) await checkSnapshot(file, snapshot);
    }
    return { state: "sound" };
  } catch (error) {
    if (error instanceof Damage) return { state: "damaged", damage: error.message };
    throw error;
  }
}

async function checkSnapshot(file: number, snapshot: Snapshot): Promise<void> {
  const { pageSize, free, main, lastPage } = snapshot;
  const bytes = fstatSync(file).size;
  const plausible =
    pageSizes.has(pageSize) &&
    (free.flags & ~overlappingSync) === integerKeys &&
    main.flags === 0 &&
    // Pages at the end that are free may never have been written.
    lastPage < 2 * (bytes / pageSize) + 4096;
  if (!plausible) throw new Damage("its beginning is damaged");

  const walk = new TreeWalk(file, bytes, snapshot);
  const trees: Buffer[] = [];
  await walk.walk(main, "bytes", (flags, _key, data) => {
    if ((flags & nodeFlags.tree) === 0) return;
    const record = Buffer.from(data());
    if (record.length !== treeRecordBytes) throw new Damage("a tree has lost its root");
    trees.push(record);
  });
  for (const bytesOfTree of trees) {
    const tree = readTreeRecord(bytesOfTree, 0);
    if (tree === null || (tree.flags & ~integerKeys) !== 0) {
      throw new Damage("a tree has lost its root");
    }
    await walk.walk(tree, tree.flags === 0 ? "bytes" : "number");
  }
  const lists: Buffer[] = [];
  await walk.walk(free, "number", (_flags, key, data) => {
    if (key.length !== 8) throw new Damage("the list of free pages is damaged");
    lists.push(Buffer.from(data()));
  });
  for (const list of lists) readFreeList(list, (page) => walk.free(page));
}

/** Visits the pages of a list: zeros are no pages; a negative number says how long a run is. */
function readFreeList(list: Buffer, visit: (page: number) => void): void {
  const count = list.length < 8 ? null : readCount(list, 0);
  if (count === null || (count + 1) * 8 > list.length) {
    throw new Damage("the list of free pages is damaged");
  }
  for (let index = 1; index <= count; index++) {
    const entry = list.readBigInt64LE(8 * index);
    if (entry === 0n) continue;
    let length = 1;
    let first = Number(entry);
    if (entry < 0n) {
      length = Number(-entry);
      index++;
      first = index > count ? 0 : Number(list.readBigInt64LE(8 * index));
    }
    for (let page = first; page < first + length; page++) visit(page);
  }
}

/** The file's two pages of snapshots, and the half page of the one that was flushed. */
function snapshotsOf(head: Buffer): readonly (Snapshot | null)[] {
  const first = readSnapshot(head, 0);
  if (first === null || !pageSizes.has(first.pageSize)) return [null];
  return [0, first.pageSize / 2, first.pageSize].map((at) => readSnapshot(head, at));
}

function newest(snapshots: readonly (Snapshot | null)[]): Snapshot | null {
  // The flushed one is a copy of one of the others.
  const [first, , second] = snapshots;
  if (!first || !second) return null;
  return second.transaction > first.transaction ? second : first;
}

function latestTransaction(path: string): number | null {
  const file = openSync(path, "r");
  try {
    return newest(snapshotsOf(readHead(file)))?.transaction ?? null;
  } finally {
    closeSync(file);
  }
}

/** As much as the largest pages need. */
function readHead(file: number): Buffer {
  const head = Buffer.alloc(2 * 65_536);
  return head.subarray(0, readSync(file, head, 0, head.length, 0));
}

const pageSizes: ReadonlySet<number> = new Set([4096, 8192, 16_384, 32_768, 65_536]);

/** Flags of the tree of free pages: how its keys are, and how the file was written. */
const integerKeys = 0x08;
const overlappingSync = 0x1000;
