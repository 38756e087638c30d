import { chmodSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { makeFolder } from "../../core/make-folder.js";
import { MappedMemory } from "../mapped-memory.js";
import { causeOf, type Environment, openEnvironment } from "./environment.js";
import { buckets } from "./index-bucket.js";
import { blockOf, eachRecordIn, recordIn, slots } from "./record-block.js";

export interface JournalFileOptions {
  /** Folder of the journal's files; made, readable by its owner alone, when it is absent. */
  readonly folder: string;
  /** Bytes of mapped file that may be resident. Default 6 MiB. */
  readonly mappedLimit?: number;
}

/**
 * The journal's LMDB environment: blocks of records, their index, and what is known of both.
 *
 * LMDB gives no page of its mapped file back, so the environment is closed and opened again (`remap`)
 * when more than `mappedLimit` of it has become resident.
 */
export class JournalFile {
  readonly #folder: string;
  readonly #mapped: MappedMemory;
  #environment: Environment | null;
  #transaction: Promise<unknown> | null = null;
  /** Resolves when no transaction so far has its flush under way. */
  #flushed: Promise<unknown> = Promise.resolve();
  #broken = false;
  #indexedThrough: number;

  constructor(options: JournalFileOptions) {
    this.#folder = options.folder;
    makeFolder(this.#folder);
    chmodSync(this.#folder, 0o700);
    this.#environment = openEnvironment(this.#folder);
    this.#mapped = new MappedMemory(options.mappedLimit ?? 6 * 1024 * 1024);
    const { about } = this.#environment;
    this.#indexedThrough = about.get("indexedThrough") ?? 0;
  }

  /** False in the short moments of `remap`, when nothing can be read or written. */
  get ready(): boolean {
    return this.#environment !== null;
  }

  /** True when `remap` is due. */
  get crowded(): boolean {
    return this.#mapped.excess && !this.#broken;
  }

  /** Records up to this sequence number have their entry in the index. */
  get indexedThrough(): number {
    return this.#indexedThrough;
  }

  /** The highest sequence number of a record; 0 for none. */
  lastSequence(): number {
    let last = 0;
    for (const block of this.#opened.records.getKeys({ reverse: true, limit: 1 })) {
      const bytes = this.#opened.records.getBinaryFast(block);
      if (bytes) eachRecordIn(block * slots, bytes, (sequence) => (last = sequence));
    }
    return last;
  }

  /** A record's bytes, which stay what they are until the next reading. */
  readRecord(sequence: number): Buffer | undefined {
    this.#mapped.touch();
    const block = this.#opened.records.getBinaryFast(blockOf(sequence));
    return block === undefined ? undefined : recordIn(block, sequence);
  }

  /** A bucket of the index; its bytes stay what they are until the next reading. */
  readBucket(bucket: number): Buffer | undefined {
    this.#mapped.touch();
    return this.#opened.index.getBinaryFast(bucket);
  }

  /** Visits the buckets of the index in ascending order. */
  async eachBucket(visit: (bytes: Buffer) => void): Promise<void> {
    for (let bucket = 0; bucket < buckets; bucket++) {
      const bytes = this.#opened.index.getBinaryFast(bucket);
      if (bytes === undefined) continue;
      visit(bytes);
      this.#mapped.touch();
      if (this.crowded) await this.remap();
    }
  }

  /** Visits the records from a sequence number on. */
  async eachRecord(from: number, visit: (sequence: number, bytes: Buffer) => void): Promise<void> {
    const last = blockOf(this.lastSequence());
    for (let block = blockOf(from); block <= last; block++) {
      const bytes = this.#opened.records.getBinaryFast(block);
      if (bytes === undefined) continue;
      eachRecordIn(block * slots, bytes, (sequence, record) => {
        if (sequence >= from) visit(sequence, record);
      });
      this.#mapped.touch();
      if (this.crowded) await this.remap();
    }
  }

  /** Adds a block, by its first sequence number, to the transaction of this turn of the event loop. */
  writeBlock(sequence: number, bytes: Buffer): void {
    this.#mapped.touch();
    this.#transaction = this.#opened.records.put(blockOf(sequence), bytes);
  }

  /** Puts new bytes in the place of a bucket; buckets are written in ascending order. */
  writeBucket(bucket: number, change: (bytes: Buffer | undefined) => Buffer): void {
    const { index } = this.#opened;
    const found = index.getBinaryFast(bucket);
    // LMDB's buffer is longer than what it says is its length.
    this.#transaction = index.put(bucket, change(found?.subarray(0, found.length)));
    this.#mapped.touch();
  }

  writeIndexedThrough(sequence: number): void {
    this.#transaction = this.#opened.about.put("indexedThrough", sequence);
    this.#indexedThrough = sequence;
  }

  /** Resolves when the end of the process can no longer lose what was written in this turn. */
  async committed(): Promise<void> {
    try {
      await this.#transaction;
      // LMDB flushes on other threads, several at a time, and speaks of the newest one only.
      this.#flushed = both(this.#flushed, this.#opened.root.flushed);
    } catch (error) {
      this.#broken = true;
      throw await causeOf(error);
    }
  }

  /** Resolves when a loss of power can no longer lose what was written. */
  async flush(): Promise<void> {
    await this.#opened.root.flushed;
  }

  /** Closes and opens the environment. Nothing may be written until it resolves. */
  async remap(): Promise<void> {
    await this.close();
    // LMDB lets go of a closed environment in timers of its own.
    await turn();
    this.#environment = openEnvironment(this.#folder);
    this.#mapped.reset();
  }

  async close(): Promise<void> {
    // After a failed transaction LMDB waits in vain for it when it closes.
    if (this.#broken || this.#environment === null) return;
    const { root } = this.#environment;
    // LMDB closes when the newest flush is done; an older one would go on with files that are closed.
    await Promise.all([this.#flushed, root.flushed]);
    this.#environment = null;
    await root.close();
  }

  get #opened(): Environment {
    if (this.#environment === null) throw new Error("it is closed");
    return this.#environment;
  }
}

/** Resolves to nothing: a result would hold those of all the times before. */
async function both(one: Promise<unknown>, other: Promise<unknown>): Promise<void> {
  await Promise.all([one, other]);
}
