/**
 * What LMDB keeps of a tree in a record of 48 bytes (`MDB_db` in its mdb.c). Numbers of pages and
 * entries are far below 2^53.
 */
export interface TreeRecord {
  readonly flags: number;
  readonly depth: number;
  readonly entries: number;
  /** Number of the root's page; null for an empty tree. */
  readonly root: number | null;
}

/** A snapshot that a file offers: what one committed transaction left (`MDB_meta`). */
export interface Snapshot {
  readonly pageSize: number;
  readonly free: TreeRecord;
  readonly main: TreeRecord;
  readonly lastPage: number;
  readonly transaction: number;
  /** Which boot of the machine wrote it, as LMDB tells boots apart. */
  readonly boot: bigint;
}

/** Bytes of `MDB_page_header`, with which every page begins. */
export const pageHeader = 24;

/** Bytes of a tree's record. */
export const treeRecordBytes = 48;

/** Bytes of `MDB_meta` with its page's header. */
const snapshotBytes = pageHeader + 144;

/** Why a file's beginning is none that this version of LMDB writes. */
export type Unreadable = "no LMDB file" | "another version of LMDB";

/** Reads a snapshot from where its page, or half page, begins. */
export function readSnapshot(bytes: Buffer, at: number): Snapshot | null {
  const meta = at + pageHeader;
  if (bytes.length < at + snapshotBytes) return null;
  const free = readTreeRecord(bytes, meta + 24);
  const main = readTreeRecord(bytes, meta + 72);
  const lastPage = readCount(bytes, meta + 120);
  const transaction = readCount(bytes, meta + 128);
  if (free === null || main === null || lastPage === null || transaction === null) return null;
  return {
    pageSize: bytes.readUInt32LE(meta + 24),
    free,
    main,
    lastPage,
    transaction,
    boot: bytes.readBigInt64LE(meta + 136),
  };
}

/** Whether the file begins as this version of LMDB has it; null when it does. */
export function unreadable(bytes: Buffer): Unreadable | null {
  if (bytes.length < snapshotBytes || bytes.readUInt32LE(pageHeader) !== magic) {
    return "no LMDB file";
  }
  const known = (bytes.readUInt32LE(pageHeader + 4) & 0xffff) === dataVersion;
  return known ? null : "another version of LMDB";
}

/** Reads a tree's record; null when its numbers make no sense. */
export function readTreeRecord(bytes: Buffer, at: number): TreeRecord | null {
  const entries = readCount(bytes, at + 32);
  const noRoot = bytes.readBigUInt64LE(at + 40) === noPage;
  const root = noRoot ? null : readCount(bytes, at + 40);
  if (entries === null || (root === null && !noRoot)) return null;
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    entries,
    root,
  };
}

/** A number of 64 bits that has to be a sensible count; null when it is not. */
export function readCount(bytes: Buffer, at: number): number | null {
  const number = bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
  return number <= Number.MAX_SAFE_INTEGER ? number : null;
}

const magic = 0xbeefc0de;
const dataVersion = 2;
const noPage = 0xffff_ffff_ffff_ffffn;
