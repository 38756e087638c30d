import type { Finding } from "../core/finding.js";
import { decodeRecord, encodeRecord, linkRecord, readHead } from "./journal/finding-record.js";
import { checkSpace, journalFault } from "./journal/journal-fault.js";
import { JournalFile, type JournalFileOptions } from "./journal/journal-file.js";
import { SequenceIndex, type SequenceIndexOptions } from "./journal/sequence-index.js";
import { textHash } from "./journal/text-hash.js";
import { WriteGroup } from "./journal/write-group.js";
import type { FindingStore } from "./store.js";

export type JournalOptions = JournalFileOptions & SequenceIndexOptions;

/**
 * Opens the journal of a run with whatever an earlier part of the run put.
 *
 * It is an LMDB environment. A record is safe from the end of the process as soon as `put` resolves:
 * its transaction is committed. LMDB goes on to flush each transaction to the disk and, after a loss
 * of power, opens at the last one that was flushed whole; `sync` waits for that.
 *
 * @throws FatalError when it cannot be opened, or another version of repute wrote it
 */
export async function openJournal(options: JournalOptions): Promise<FindingStore> {
  try {
    const file = new JournalFile(options);
    const index = new SequenceIndex(file, options);
    await index.load();
    return new Journal(options.folder, file, index);
  } catch (error) {
    throw journalFault(options.folder, "open", error);
  }
}

/** Records that are written without waiting for more to write with them. */
const groupSize = 256;

/** How long a record waits for others otherwise, in milliseconds: a transaction costs a flush. */
const groupDelayMs = 2;

/** Findings kept in memory because they were asked for again. */
const repeatedSize = 1024;

class Journal implements FindingStore {
  readonly #folder: string;
  readonly #file: JournalFile;
  readonly #index: SequenceIndex;
  /** First sequence number of this session: what failed in an earlier one may be asked again. */
  readonly #sessionStart: number;
  readonly #repeated = new Map<string, Finding>();
  #sequence: number;
  #group = new WriteGroup();
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> | null = null;
  #fault: Error | null = null;

  constructor(folder: string, file: JournalFile, index: SequenceIndex) {
    this.#folder = folder;
    this.#file = file;
    this.#index = index;
    this.#sequence = file.lastSequence();
    this.#sessionStart = this.#sequence + 1;
  }

  get(key: string): Finding | null | Promise<Finding | null> {
    const hash = textHash(key);
    if (!this.#index.mayHave(hash)) return null;
    const repeated = this.#repeated.get(key);
    if (repeated) return repeated;
    if (!this.#file.ready || this.#file.crowded) return this.#getLater(key);
    const finding = this.#read(key, hash);
    if (finding) this.#remember(key, finding);
    return finding;
  }

  async #getLater(key: string): Promise<Finding | null> {
    if (this.#fault && !this.#file.ready) throw this.#fault;
    await this.#start();
    return this.get(key);
  }

  put(key: string, finding: Finding): Promise<void> {
    if (this.#fault) return Promise.reject(this.#fault);
    const hash = textHash(key);
    const group = this.#group;
    group.add(hash, encodeRecord(key, hash, finding));
    this.#schedule();
    return group.written;
  }

  async sync(): Promise<void> {
    await this.#settle();
    if (this.#fault) throw this.#fault;
    await this.#file.flush();
  }

  async close(): Promise<void> {
    await this.#settle();
    await this.#file.close();
  }

  /** Writes what waits; who put it is told when that fails. */
  async #settle(): Promise<void> {
    while (this.#work || this.#group.size > 0) await this.#start();
  }

  #schedule(): void {
    if (this.#work) return;
    if (this.#group.size >= groupSize) void this.#start();
    else this.#timer ??= setTimeout(() => void this.#start(), groupDelayMs);
  }

  /** Writes and tidies up, one thing after the other; never rejects. */
  #start(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#work ??= this.#run().finally(() => {
      this.#work = null;
      if (this.#group.size > 0) this.#schedule();
    });
    return this.#work;
  }

  async #run(): Promise<void> {
    do {
      const group = this.#group;
      this.#group = new WriteGroup();
      try {
        if (group.size > 0) await this.#write(group);
        group.resolve();
        if (this.#file.crowded) await this.#file.remap();
      } catch (error) {
        this.#fault ??= journalFault(this.#folder, "write", error);
        group.reject(this.#fault);
      }
    } while (this.#group.size >= groupSize);
  }

  async #write(group: WriteGroup): Promise<void> {
    if (this.#fault) throw this.#fault;
    checkSpace(this.#folder, group.bytes);
    for (const { hash, bytes } of group.records) {
      linkRecord(bytes, this.#index.find(hash));
      this.#file.writeRecord(++this.#sequence, bytes);
      this.#index.add(hash, this.#sequence);
    }
    // Faster than entries come in, so that the index is done with before more is due.
    this.#index.spill(Math.ceil(1.5 * group.size));
    await this.#file.committed();
    this.#index.spillWritten();
  }

  /** Follows the records with this hash back to the one with this key. */
  #read(key: string, hash: number): Finding | null {
    let sequence = this.#index.find(hash);
    while (sequence > 0) {
      const bytes = this.#file.readRecord(sequence);
      if (bytes === undefined) return null;
      const { previous } = readHead(bytes);
      const { key: found, finding } = decodeRecord(bytes);
      if (found === key) return this.#isStale(finding, sequence) ? null : finding;
      sequence = previous;
    }
    return null;
  }

  #isStale(finding: Finding, sequence: number): boolean {
    return finding.status === "failed" && sequence < this.#sessionStart;
  }

  #remember(key: string, finding: Finding): void {
    if (this.#repeated.size >= repeatedSize) {
      for (const oldest of this.#repeated.keys()) {
        this.#repeated.delete(oldest);
        break;
      }
    }
    this.#repeated.set(key, finding);
  }
}
