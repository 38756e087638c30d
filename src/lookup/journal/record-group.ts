import type { Finding } from "../../core/finding.js";
import { mostRecordBytes, readHead, recordParts, writeRecord } from "./finding-record.js";
import { HashTable } from "./hash-table.js";
import { largeBlock, lengthBytes, nextBlockStart, slots } from "./record-block.js";
import type { SequenceIndex } from "./sequence-index.js";
import type { LoggedPiece } from "./tail-log.js";

/** A group of so many records, or so many bytes, does not wait for more. */
const large = { records: 2048, bytes: 4 * 1024 * 1024 };

/** How many times as much a group may hold while the one before it is on its way. */
const mostTimesLarge = 4;

/** Room at the start; it doubles as long as that is not enough. */
const firstBytes = 256 * 1024;

/** A record's `previous` as long as it was not looked for: no such number is given. */
export const unknownPrevious = 0xffff_ffff;

/**
 * Records that the database takes over together; they can be read meanwhile. All lie in one buffer,
 * as the blocks that they become: thousands of small buffers, and the maps to find them, would grow
 * old together, which is what costs a collector most.
 */
export class RecordGroup {
  #bytes = Buffer.allocUnsafeSlow(firstBytes);
  /** Where each record begins, plus one, by its sequence number; 0 where there is none. */
  #starts = new Uint32Array(2 * large.records);
  readonly #newest = new HashTable(large.records);
  #first: number;
  #next: number;
  #used = 0;
  #size = 0;
  #blockStart = 0;
  /** What the log does not have yet: pieces whose sequence numbers have no gap. */
  #unlogged: LogPiece[] = [];

  /** @param first sequence number of the first record, which begins a block */
  constructor(first: number) {
    this.#first = first;
    this.#next = first;
  }

  #reset(first: number): void {
    // What a few long records needed is not kept for all that follow.
    if (this.#bytes.length > large.bytes) this.#bytes = Buffer.allocUnsafeSlow(firstBytes);
    this.#starts.fill(0);
    this.#newest.clear();
    this.#first = first;
    this.#next = first;
    this.#used = 0;
    this.#size = 0;
    this.#blockStart = 0;
    this.#unlogged = [];
  }

  /**
   * A group for the records after this one's.
   *
   * @param spare one that is not needed any more, to be used again
   */
  successor(spare: RecordGroup | null): RecordGroup {
    const first = nextBlockStart(this.#next);
    if (spare === null) return new RecordGroup(first);
    spare.#reset(first);
    return spare;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#used;
  }

  get isLarge(): boolean {
    return this.#size >= large.records || this.#used >= large.bytes;
  }

  /** True when whoever brings more has to wait: the disk is slower than the lookups. */
  get isFull(): boolean {
    return (
      this.#size >= mostTimesLarge * large.records || this.#used >= mostTimesLarge * large.bytes
    );
  }

  /** The sequence number that the next record gets. */
  get next(): number {
    return this.#next;
  }

  /** @param mayRepeat whether there may be a record with this hash already */
  add(key: string, hash: number, finding: Finding, mayRepeat: boolean): void {
    const parts = recordParts(key, finding);
    if (this.#used - this.#blockStart >= largeBlock) this.#skipTo(nextBlockStart(this.#next));
    this.#makeRoom(lengthBytes + mostRecordBytes(parts));
    const start = this.#used;
    const previous = mayRepeat ? this.#newest.get(hash) || unknownPrevious : 0;
    const end = writeRecord(this.#bytes, start + lengthBytes, { previous, hash }, parts);
    this.#added(start, end, hash);
  }

  /** Adds a record that an earlier process wrote, under the number that it had then. */
  takeOver(sequence: number, record: Buffer): void {
    if (sequence > this.#next) this.#skipTo(sequence);
    this.#makeRoom(lengthBytes + record.length);
    const start = this.#used;
    this.#bytes.set(record, start + lengthBytes);
    this.#bytes.writeUInt32LE(unknownPrevious, start + lengthBytes);
    this.#added(start, start + lengthBytes + record.length, readHead(record).hash);
    this.#unlogged = [];
  }

  /** Sequence number of the newest record with a hash; 0 for none. */
  find(hash: number): number {
    return this.#newest.get(hash);
  }

  /** The record with a sequence number; its bytes stay what they are until the next `add`. */
  at(sequence: number): Buffer | undefined {
    if (sequence < this.#first || sequence >= this.#next) return undefined;
    const start = this.#starts[sequence - this.#first] as number;
    if (start === 0) return undefined;
    const record = start - 1 + lengthBytes;
    return this.#bytes.subarray(record, record + this.#bytes.readUInt32LE(start - 1));
  }

  /** What was added since it was asked last, for the log; to be used before the next `add`. */
  takeUnlogged(): readonly LoggedPiece[] {
    const pieces = this.#unlogged;
    this.#unlogged = [];
    return pieces.map(({ sequence, from }, n) => ({
      sequence,
      bytes: this.#bytes.subarray(from, pieces[n + 1]?.from ?? this.#used),
    }));
  }

  /** Enters all records into an index, each linked to the one before it with the same hash. */
  enter(index: Pick<SequenceIndex, "find" | "add">): void {
    this.#eachStart((sequence, start) => {
      const head = start + lengthBytes;
      const hash = this.#bytes.readUInt32LE(head + 4);
      if (this.#bytes.readUInt32LE(head) === unknownPrevious) {
        this.#bytes.writeUInt32LE(index.find(hash), head);
      }
      index.add(hash, sequence);
    });
  }

  /** Visits the blocks. Their bytes stay what they are until `reset`. */
  eachBlock(visit: (sequence: number, bytes: Buffer) => void): void {
    let first = this.#first;
    let from = 0;
    this.#eachStart((sequence, start) => {
      if (sequence % slots !== 0 || sequence === first) return;
      visit(first, this.#bytes.subarray(from, start));
      first = sequence;
      from = start;
    });
    if (this.#used > from) visit(first, this.#bytes.subarray(from, this.#used));
  }

  #eachStart(visit: (sequence: number, start: number) => void): void {
    for (let sequence = this.#first; sequence < this.#next; sequence++) {
      const start = this.#starts[sequence - this.#first] as number;
      if (start > 0) visit(sequence, start - 1);
    }
  }

  /** Leaves numbers out, up to the start of another block. */
  #skipTo(sequence: number): void {
    this.#next = sequence;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = larger;
    }
    if (this.#next - this.#first >= this.#starts.length) {
      const more = new Uint32Array(Math.max(this.#next - this.#first + 1, 2 * this.#starts.length));
      more.set(this.#starts);
      this.#starts = more;
    }
  }

  #added(start: number, end: number, hash: number): void {
    const sequence = this.#next++;
    this.#bytes.writeUInt32LE(end - start - lengthBytes, start);
    this.#starts[sequence - this.#first] = start + 1;
    this.#newest.set(hash, sequence);
    if (sequence % slots === 0) this.#blockStart = start;
    const piece = this.#unlogged.at(-1);
    if (piece?.next === sequence) piece.next++;
    else this.#unlogged.push({ sequence, from: start, next: sequence + 1 });
    this.#used = end;
    this.#size++;
  }
}

/** Records in the order of their sequence numbers, none of which is left out. */
interface LogPiece {
  readonly sequence: number;
  readonly from: number;
  /** The number that would follow. */
  next: number;
}
