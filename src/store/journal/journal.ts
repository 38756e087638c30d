import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { FatalError } from "../../core/errors.js";
import type { LookupRecord } from "../../core/attempt.js";
import { makeFolder, syncFolder } from "../../core/files/make-folder.js";
import { decodeRecord, readHead, type ReadOptions, recordParts } from "./finding-record.js";
import { journalFault, otherVersion } from "./framed-record.js";
import { OffsetIndex } from "./offset-index.js";
import { RecordLog } from "./record-log.js";
import { textHash } from "../cache/cache-key.js";
import type { LookupStore } from "../store.js";
import { WriteBatch } from "../write-batch.js";

export interface JournalOptions {
  /** Folder of the journal's files; made, readable by its owner alone, when it is absent. */
  readonly folder: string;
  /** Given each record of an earlier part of the run, in order. */
  readonly onReplay?: (key: string, record: LookupRecord) => void;
  /** Whether findings come with the text of their results. Default false. */
  readonly asReceived?: boolean | undefined;
  /** `durableBytes` of an earlier session: so much of it must be there. Default 0. */
  readonly durableBytes?: number;
  /** Told when records of an earlier session are damaged or missing. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Chains of the index in memory, a power of two. @default 2^23 */
  readonly chains?: number | undefined;
}

/**
 * Opens the journal of a run with whatever an earlier part of the run put.
 *
 * It is a file of records and an index of them. A record is safe from the end of the process as soon
 * as `put` resolves: it is written. `sync` resolves when a loss of power cannot lose what was put
 * before.
 *
 * @throws FatalError when it cannot be opened, or another version of repute wrote it
 */
export async function openJournal({
  folder,
  asReceived = false,
  ...options
}: JournalOptions): Promise<LookupStore> {
  try {
    makeFolder(folder);
    chmodSync(folder, 0o700);
    // What versions before 4 wrote.
    if (existsSync(join(folder, "data.mdb"))) throw otherVersion(folder);
    const log = new RecordLog(folder);
    try {
      const index = await indexOf(log, folder, options);
      return new Journal({ folder, asReceived }, log, index);
    } catch (error) {
      log.close();
      throw error;
    }
  } catch (error) {
    throw journalFault(folder, "open", error);
  }
}

/** An index of all records that a log has from before. */
async function indexOf(
  log: RecordLog,
  folder: string,
  { chains, durableBytes = 0, onReplay, onWarning }: Omit<JournalOptions, "folder">,
): Promise<OffsetIndex> {
  const index = new OffsetIndex(chains);
  const gaps = { count: 0, from: 0, to: 0 };
  const onGap = (from: number, to: number): void => {
    if (gaps.count++ === 0) Object.assign(gaps, { from, to });
  };
  for await (const records of log.replay(durableBytes, onGap)) {
    for (const { place, record } of records) {
      const { hash, previous } = readHead(record);
      index.replay(hash, place, previous);
      if (onReplay === undefined) continue;
      const { key, value } = decodeRecord(record);
      onReplay(key, value);
    }
  }
  if (gaps.count > 0) {
    const more = gaps.count === 1 ? "" : `, and in ${gaps.count - 1} more places`;
    onWarning?.(
      `${join(folder, "records")} is damaged between byte ${gaps.from} and byte ${gaps.to}${more}: lookups recorded there may be repeated`,
    );
  }
  await syncFolder(folder);
  return index;
}

/**
 * So many records, or bytes of them, do not wait for the end of the turn: where many answers come at
 * once, the first requests of the next round leave while the last answers are read.
 */
const writtenAtOnce = { records: 32, bytes: 1024 * 1024 };

/** Records kept in memory because they were asked for again: what repeats often in an input. */
const mostRepeated = 1024;

class Journal implements LookupStore {
  readonly #folder: string;
  readonly #read: ReadOptions;
  readonly #log: RecordLog;
  readonly #index: OffsetIndex;
  /** The one that was asked for last is the last. */
  readonly #repeated = new Map<string, LookupRecord>();
  /** Records that are not written yet, and the promise of those who put them. */
  #batch = new WriteBatch();
  #syncing: Promise<void> = Promise.resolve();
  #durableBytes = 0;
  #fault: Error | null = null;
  /** Error for calls after `close`. */
  #left: Error | null = null;
  #closed: Promise<void> | null = null;

  constructor({ folder, asReceived }: JournalOptions, log: RecordLog, index: OffsetIndex) {
    this.#folder = folder;
    this.#read = { asReceived };
    this.#log = log;
    this.#index = index;
  }

  get durableBytes(): number {
    return this.#durableBytes;
  }

  get(key: string): LookupRecord | null | Promise<LookupRecord | null> {
    if (this.#left) return Promise.reject(this.#left);
    const hash = textHash(key);
    if (this.#index.newest(hash) === 0) return null;
    try {
      const record = this.#repeated.get(key) ?? this.#newest(key, hash);
      if (record) this.#keep(key, record);
      return record;
    } catch (error) {
      return Promise.reject((this.#fault ??= journalFault(this.#folder, "read", error)));
    }
  }

  put(key: string, record: LookupRecord): Promise<void> {
    if (this.#fault) return Promise.reject(this.#fault);
    const batch = this.#batch;
    try {
      this.#add(key, record);
    } catch (error) {
      return Promise.reject((this.#fault = journalFault(this.#folder, "write", error)));
    }
    batch.size++;
    if (batch.size === 1) setImmediate(() => this.#write(batch));
    const { records, bytes } = writtenAtOnce;
    if (batch.size >= records || this.#log.waiting >= bytes) this.#write(batch);
    return batch.done;
  }

  async sync(): Promise<void> {
    if (this.#batch.size > 0) await this.#batch.done;
    if (this.#fault) throw this.#fault;
    try {
      const sync = this.#log.sync();
      this.#syncing = this.#syncing.then(() => sync).then(nothing, nothing);
      this.#durableBytes = await sync;
    } catch (error) {
      throw (this.#fault ??= journalFault(this.#folder, "write", error));
    }
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    // A failure rejects the `put` of its record.
    if (this.#batch.size > 0) await this.#batch.done.catch(() => undefined);
    // The number of the file may be another's from now on.
    this.#left = new FatalError("journal_closed", `the journal ${this.#folder} is closed`);
    this.#fault ??= this.#left;
    await this.#syncing;
    this.#log.close();
  }

  /** Keeps a record in memory, where it takes the place of the one that was asked for least lately. */
  #keep(key: string, record: LookupRecord): void {
    this.#repeated.delete(key);
    this.#repeated.set(key, record);
    if (this.#repeated.size <= mostRepeated) return;
    for (const [oldest] of this.#repeated) {
      this.#repeated.delete(oldest);
      return;
    }
  }

  #add(key: string, record: LookupRecord): void {
    const hash = textHash(key);
    const previous = this.#index.newest(hash);
    if (previous > 0 && this.#repeated.has(key)) this.#keep(key, record);
    const place = this.#log.add({ previous, hash }, recordParts(key, record));
    this.#index.add(hash, place);
  }

  /** Writes the records of this turn of the event loop, and resolves their `put`. */
  #write(batch: WriteBatch): void {
    if (batch !== this.#batch) return;
    this.#batch = new WriteBatch();
    try {
      if (this.#fault) throw this.#fault;
      this.#log.write();
      batch.resolve();
    } catch (error) {
      this.#fault ??= journalFault(this.#folder, "write", error);
      batch.reject(this.#fault);
    }
  }

  /** Follows a chain back to the newest record with the key. */
  #newest(key: string, hash: number): LookupRecord | null {
    let place = this.#index.newest(hash);
    while (place > 0) {
      const bytes = this.#log.at(place);
      if (bytes === undefined) return null;
      const head = readHead(bytes);
      const found = head.hash === hash ? decodeRecord(bytes, this.#read) : null;
      if (found?.key === key) return found.value;
      place = this.#index.before(place, head.previous);
    }
    return null;
  }
}

function nothing(): void {}
