import { readSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { pageHeader, readCount, type Snapshot, type TreeRecord } from "./lmdb-meta.js";
import {
  nodeAt,
  nodeCount,
  nodeFlags,
  overflowLength,
  pageKind,
  pageKinds,
  pageNumber,
  pageTransaction,
  type PageNode,
} from "./lmdb-page.js";

/** What is wrong with a file, as the end of a sentence. */
export class Damage extends Error {}

/** Takes the data of one entry of a tree. */
export type VisitEntry = (flags: number, key: Buffer, data: () => Buffer) => void;

/** Pages that are read before the event loop has its turn. */
const pagesAtOnce = 4096;

/**
 * Walks the trees of one snapshot with nothing but reads of the file, and makes sure that whoever
 * maps it into memory will find there what he goes by: every page within the file and reached once,
 * every node within its page, keys in their order, as many entries as are said to be there.
 */
export class TreeWalk {
  readonly #file: number;
  readonly #pageSize: number;
  readonly #pages: number;
  readonly #transaction: number;
  readonly #seen: Uint8Array;
  readonly #page: Buffer;
  #read = 0;

  /** @param file descriptor of a file with so many bytes */
  constructor(file: number, bytes: number, snapshot: Snapshot) {
    const { pageSize, lastPage } = snapshot;
    this.#file = file;
    this.#pageSize = pageSize;
    this.#transaction = snapshot.transaction;
    this.#pages = Math.min(lastPage + 1, Math.floor(bytes / pageSize));
    this.#seen = new Uint8Array(lastPage + 1);
    this.#page = Buffer.alloc(pageSize);
    // The two pages of the snapshots themselves.
    this.#seen.fill(1, 0, 2);
  }

  /** @throws Damage */
  async walk(tree: TreeRecord, order: KeyOrder, visit?: VisitEntry): Promise<void> {
    if (tree.root === null) {
      if (tree.depth !== 0 || tree.entries !== 0) throw new Damage("a tree has lost its root");
      return;
    }
    let entries = 0;
    const open: [page: number, depth: number][] = [[tree.root, 1]];
    for (let next = open.pop(); next; next = open.pop()) {
      const [number, depth] = next;
      if (depth === tree.depth) entries += this.#leaf(number, order, visit);
      else for (const child of this.#branch(number, order)) open.push([child, depth + 1]);
      if (this.#read++ % pagesAtOnce === 0) await turn();
    }
    if (entries !== tree.entries) throw new Damage("entries are missing");
  }

  /** Takes note of a page that is free. @throws Damage when it is none of the file's, or not free */
  free(number: number): void {
    if (!(number >= 2 && number < this.#seen.length)) throw new Damage("a free page is beyond it");
    this.#mark(number);
  }

  #branch(number: number, order: KeyOrder): number[] {
    const page = this.#pageOf(number, pageKinds.branch);
    return this.#nodes(page, false, order).map(({ child }) => child);
  }

  #leaf(number: number, order: KeyOrder, visit: VisitEntry | undefined): number {
    const page = this.#pageOf(number, pageKinds.leaf);
    const nodes = this.#nodes(page, true, order);
    const apart = nodes.some(({ flags }) => (flags & nodeFlags.onPages) !== 0);
    // Reading further pages would overwrite this one.
    const own = apart ? Buffer.from(page) : page;
    for (const node of nodes) {
      const onPages = (node.flags & nodeFlags.onPages) !== 0;
      const from = onPages ? this.#overflow(own, node) : null;
      visit?.(node.flags, own.subarray(node.keyStart, node.keyEnd), () =>
        from === null
          ? own.subarray(node.dataStart, node.dataStart + node.dataLength)
          : this.#readAt(from * this.#pageSize + pageHeader, Buffer.alloc(node.dataLength)),
      );
    }
    return nodes.length;
  }

  #nodes(page: Buffer, isLeaf: boolean, order: KeyOrder): PageNode[] {
    const count = nodeCount(page);
    if (count === null || count === 0) throw new Damage("a page contradicts itself");
    const nodes: PageNode[] = [];
    for (let index = 0; index < count; index++) {
      const node = nodeAt(page, index, isLeaf);
      if (node === null) throw new Damage("an entry is not within its page");
      const before = nodes.at(-1);
      // A branch's first key stands for all that are lower, and is empty.
      if (before && (isLeaf || index > 1) && !inOrder(page, before, node, order)) {
        throw new Damage("entries are out of order");
      }
      nodes.push(node);
    }
    return nodes;
  }

  /** Checks the pages of an entry's data and returns the first one's number. */
  #overflow(page: Buffer, { dataStart, dataLength }: PageNode): number {
    const first = readCount(page, dataStart) ?? 0;
    const pages = Math.floor((pageHeader - 1 + dataLength) / this.#pageSize) + 1;
    const head = this.#pageOf(first, pageKinds.overflow);
    const agreed =
      readCount(page, dataStart + 16) === pages &&
      overflowLength(head) === pages &&
      readCount(page, dataStart + 8) === pageTransaction(head);
    if (!agreed) {
      throw new Damage("an entry's pages contradict each other");
    }
    for (let number = first + 1; number < first + pages; number++) {
      if (number >= this.#pages) throw new Damage("it ends too early");
      this.#mark(number);
    }
    return first;
  }

  #pageOf(number: number, kind: number): Buffer {
    if (number >= this.#pages) throw new Damage("it ends too early");
    this.#mark(number);
    const page = this.#readAt(number * this.#pageSize, this.#page);
    const known = pageNumber(page) === number && pageKind(page) === kind;
    if (!known || pageTransaction(page) > this.#transaction) {
      throw new Damage("a page is not what it should be");
    }
    return page;
  }

  #mark(number: number): void {
    if (this.#seen[number] !== 0) throw new Damage("a page is used twice");
    this.#seen[number] = 1;
  }

  #readAt(offset: number, into: Buffer): Buffer {
    if (readSync(this.#file, into, 0, into.length, offset) < into.length) {
      throw new Damage("it ends too early");
    }
    return into;
  }
}

/** How a tree orders its keys. */
export type KeyOrder = "bytes" | "number";

function inOrder(page: Buffer, before: PageNode, node: PageNode, order: KeyOrder): boolean {
  if (order === "bytes") {
    return page.compare(page, node.keyStart, node.keyEnd, before.keyStart, before.keyEnd) < 0;
  }
  const bytes = node.keyEnd - node.keyStart;
  if (before.keyEnd - before.keyStart !== bytes) return false;
  if (bytes === 4) return page.readUInt32LE(before.keyStart) < page.readUInt32LE(node.keyStart);
  if (bytes !== 8) return false;
  return page.readBigUInt64LE(before.keyStart) < page.readBigUInt64LE(node.keyStart);
}
