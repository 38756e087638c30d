import { pageHeader } from "./lmdb-meta.js";

/** Kinds of page, by the flags that say so; no others are set on the disk. */
export const pageKinds = { branch: 0x01, leaf: 0x02, overflow: 0x04 } as const;

/** Flags of a node: its data is on pages of their own, or is a tree's record. */
export const nodeFlags = { onPages: 0x01, tree: 0x02, known: 0x03 } as const;

/** A node of a tree: places within its page. */
export interface PageNode {
  readonly flags: number;
  readonly keyStart: number;
  readonly keyEnd: number;
  /** Where a leaf's data begins. */
  readonly dataStart: number;
  /** Bytes of a leaf's data, wherever they are. */
  readonly dataLength: number;
  /** The page that a branch leads to. */
  readonly child: number;
}

/** The kind of a page, one of `pageKinds`, or another number. */
export function pageKind(page: Buffer): number {
  return page.readUInt16LE(18);
}

/** The transaction that wrote a page. LMDB takes one of the future for its own, and writes to it. */
export function pageTransaction(page: Buffer): number {
  return page.readUInt32LE(8) + page.readUInt32LE(12) * 2 ** 32;
}

/** Number that a page says it has. */
export function pageNumber(page: Buffer): number {
  return page.readUInt32LE(0) + page.readUInt32LE(4) * 2 ** 32;
}

/** How many pages an overflow page says it goes on for, itself included. */
export function overflowLength(page: Buffer): number {
  return page.readUInt32LE(20);
}

/** Nodes of a page; null when its own numbers contradict each other. */
export function nodeCount(page: Buffer): number | null {
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  if (lower % 2 !== 0 || lower > upper || pageHeader + upper > page.length) return null;
  return lower / 2;
}

/** One node of a page; null when it does not lie within the page. */
export function nodeAt(page: Buffer, index: number, isLeaf: boolean): PageNode | null {
  const upper = page.readUInt16LE(22);
  const pointer = page.readUInt16LE(pageHeader + 2 * index);
  const at = pageHeader + pointer;
  if (pointer < upper || at + nodeHeader > page.length) return null;
  const low = page.readUInt32LE(at);
  const flags = page.readUInt16LE(at + 4);
  const keyStart = at + nodeHeader;
  const keyEnd = keyStart + page.readUInt16LE(at + 6);
  if (keyEnd > page.length) return null;
  if (!isLeaf) {
    const child = low + flags * 2 ** 32;
    return { flags: 0, keyStart, keyEnd, dataStart: keyEnd, dataLength: 0, child };
  }
  const inPage = (flags & nodeFlags.onPages) === 0 ? low : overflowRecord;
  if ((flags & ~nodeFlags.known) !== 0 || keyEnd + inPage > page.length) return null;
  return { flags, keyStart, keyEnd, dataStart: keyEnd, dataLength: low, child: 0 };
}

/** Bytes of a node before its key (`MDB_node`). */
const nodeHeader = 8;

/** Bytes of what stands in the place of data that is on pages of their own (`MDB_ovpage`). */
const overflowRecord = 24;
