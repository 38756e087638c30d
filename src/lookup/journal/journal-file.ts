import { chmodSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { makeFolder } from "../../core/make-folder.js";
import { causeOf, type Environment, openEnvironment } from "./environment.js";
import { buckets } from "./index-bucket.js";

export interface JournalFileOptions {
  /** Folder of the journal's files; made, readable by its owner alone, when it is absent. */
  readonly folder: string;
  /** Bytes of mapped file that may be resident. Default 16 MiB. */
  readonly mappedLimit?: number;
}

/**
 * The journal's LMDB environment: records by sequence number, their index, and what is known of both.
 *
 * A page of a mapped file counts as resident memory of the process once it was touched, and the
 * kernel maps the 64 KiB around it as well. LMDB gives no mapping back, so the environment is closed
 * and opened again (`remap`) when what was touched since comes to `mappedLimit`.
 */
export class JournalFile {
  readonly #folder: string;
  readonly #mappedLimit: number;
  #environment: Environment | null;
  #transaction: Promise<unknown> | null = null;
  /** Resolves when no transaction so far has its flush under way. */
  #flushed: Promise<unknown> = Promise.resolve();
  #broken = false;
  /** Estimate of the bytes mapped since opening. */
  #mapped = 0;
  #indexedThrough: number;

  constructor(options: JournalFileOptions) {
    this.#folder = options.folder;
    this.#mappedLimit = options.mappedLimit ?? 16 * 1024 * 1024;
    makeFolder(this.#folder);
    chmodSync(this.#folder, 0o700);
    this.#environment = openEnvironment(this.#folder);
    const { about } = this.#environment;
    this.#indexedThrough = about.get("indexedThrough") ?? 0;
  }

  /** False in the short moments of `remap`, when nothing can be read or written. */
  get ready(): boolean {
    return this.#environment !== null;
  }

  /** True when `remap` is due. */
  get crowded(): boolean {
    return this.#mapped > this.#mappedLimit && !this.#broken;
  }

  /** Records up to this sequence number have their entry in the index. */
  get indexedThrough(): number {
    return this.#indexedThrough;
  }

  /** The highest sequence number of a record; 0 for none. */
  lastSequence(): number {
    for (const last of this.#opened.records.getKeys({ reverse: true, limit: 1 })) return last;
    return 0;
  }

  /** A record's bytes, which stay what they are until the next reading. */
  readRecord(sequence: number): Buffer | undefined {
    // The records' tree is deep: a page of it is touched above the record's own.
    this.#mapped += 2 * mappedByTouch;
    return this.#opened.records.getBinaryFast(sequence);
  }

  /** A bucket of the index; its bytes stay what they are until the next reading. */
  readBucket(bucket: number): Buffer | undefined {
    this.#mapped += mappedByTouch;
    return this.#opened.index.getBinaryFast(bucket);
  }

  /** Visits the buckets of the index in ascending order. */
  async eachBucket(visit: (bucket: number, bytes: Buffer) => void): Promise<void> {
    for (let bucket = 0; bucket < buckets; bucket++) {
      const bytes = this.#opened.index.getBinaryFast(bucket);
      if (bytes === undefined) continue;
      visit(bucket, bytes);
      this.#mapped += mappedByBucket(bytes);
      if (this.crowded) await this.remap();
    }
  }

  /** Visits the records from a sequence number on. */
  async eachRecord(from: number, visit: (sequence: number, bytes: Buffer) => void): Promise<void> {
    const last = this.lastSequence();
    for (let sequence = from; sequence <= last; sequence++) {
      const bytes = this.#opened.records.getBinaryFast(sequence);
      if (bytes === undefined) continue;
      visit(sequence, bytes);
      this.#mapped += bytes.length + bytesByRecord;
      if (this.crowded) await this.remap();
    }
  }

  /** Adds a record to the transaction of this turn of the event loop. */
  writeRecord(sequence: number, bytes: Buffer): void {
    this.#transaction = this.#opened.records.put(sequence, bytes);
    this.#mapped += bytes.length + bytesByRecord;
  }

  /** Puts new bytes in the place of a bucket; buckets are written in ascending order. */
  writeBucket(bucket: number, change: (bytes: Buffer | undefined) => Buffer): void {
    const { index } = this.#opened;
    const bytes = change(index.getBinary(bucket));
    this.#transaction = index.put(bucket, bytes);
    this.#mapped += mappedByBucket(bytes);
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
      this.#flushed = Promise.all([this.#flushed, this.#opened.root.flushed]);
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
    this.#mapped = 0;
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

/** What the kernel maps when it has to map a page (Linux: fault_around_bytes). */
const mappedByTouch = 64 * 1024;

/** LMDB's own bytes beside a record's. */
const bytesByRecord = 40;

/**
 * What reading a bucket maps when its neighbours are read as well. They share a page of 4 KiB, about
 * 70% full, but the next page of the index may be anywhere in the file.
 */
function mappedByBucket(bytes: Buffer): number {
  return Math.min(mappedByTouch, (bytes.length / 0.7) * (mappedByTouch / 4096));
}
