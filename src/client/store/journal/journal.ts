import { chmodSync } from "node:fs";
import { FatalError } from "../../../core/errors.js";
import type { LookupRecord } from "../../../core/finding.js";
import { makeFolder, syncFolder } from "../../../core/files/folders.js";
import {
  decodeRecord,
  readHead,
  type ReadBackOptions,
  recordParts,
  type Keyed,
} from "../finding-record.js";
import { journalFault, RecordLog, type LocatedRecord } from "./record-log.js";
import { textHash } from "../cache-key.js";
import type { RunJournal } from "../store.js";
import { WriteBatch } from "../write-batch.js";
import { join } from "node:path";

export interface JournalOptions extends ReadJournalOptions {
  /** Called with each record of earlier sessions, in order. */
  readonly onReplay?: (key: string, record: LookupRecord) => void;
  /** Return findings with the text of their results. @default false */
  readonly asReceived?: boolean | undefined;
  /** Chains of the index in memory, a power of two. @default 2^22 */
  readonly chains?: number | undefined;
}

/**
 * Opens a run's journal and replays the records of earlier sessions.
 *
 * The journal is an append-only file plus an index in memory. A record survives the death of the
 * process once `put` resolves, and a power loss once `sync` resolves.
 *
 * @throws FatalError when it cannot be opened or another version of repute wrote it
 */
export async function openJournal({
  folder,
  asReceived = false,
  ...options
}: JournalOptions): Promise<RunJournal> {
  try {
    makeFolder(folder);
    chmodSync(folder, 0o700);
    const log = new RecordLog(folder);
    try {
      const index = await indexOf(log, { folder, ...options });
      return new Journal({ folder, asReceived }, log, index);
    } catch (error) {
      log.close();
      throw error;
    }
  } catch (error) {
    throw journalFault(folder, "open", error);
  }
}

async function indexOf(
  log: RecordLog,
  { chains, onReplay, ...options }: Omit<JournalOptions, "asReceived">,
): Promise<OffsetIndex> {
  const index = new OffsetIndex(chains);
  for await (const records of intactRecords(log, options)) {
    for (const { offset, record } of records) {
      const { hash, previous } = readHead(record);
      index.replay(hash, offset, previous);
      if (onReplay === undefined) continue;
      const { key, value } = decodeRecord(record);
      onReplay(key, value);
    }
  }
  await syncFolder(options.folder);
  return index;
}

/**
 * A batch this large is written at once instead of at the end of the event loop turn. When many
 * answers arrive together, the next requests then leave while the last answers are still being
 * read.
 */
const flushThreshold = { records: 32, bytes: 1024 * 1024 };

/**
 * Size of the in-memory cache of records that were read again: values that repeat often in an
 * input.
 */
const maxRepeated = 1024;

class Journal implements RunJournal {
  readonly #folder: string;
  readonly #read: ReadBackOptions;
  readonly #log: RecordLog;
  readonly #index: OffsetIndex;
  /** In order of use, most recently used last. */
  readonly #repeated = new Map<string, LookupRecord>();
  #batch = new WriteBatch();
  #syncing: Promise<void> = Promise.resolve();
  #durableBytes = 0;
  #fault: Error | null = null;
  /** Error for calls after `close`. */
  #closedError: Error | null = null;
  #closed: Promise<void> | null = null;

  constructor(
    { folder, asReceived }: Pick<JournalOptions, "folder" | "asReceived">,
    log: RecordLog,
    index: OffsetIndex,
  ) {
    this.#folder = folder;
    this.#read = { asReceived };
    this.#log = log;
    this.#index = index;
  }

  get durableBytes(): number {
    return this.#durableBytes;
  }

  get(key: string): LookupRecord | null | Promise<LookupRecord | null> {
    if (this.#closedError) return Promise.reject(this.#closedError);
    const hash = textHash(key);
    if (this.#index.newest(hash) === 0) return null;
    try {
      const record = this.#repeated.get(key) ?? this.#newest(key, hash);
      if (record) this.#cache(key, record);
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
    const { records, bytes } = flushThreshold;
    if (batch.size >= records || this.#log.pendingBytes >= bytes) this.#write(batch);
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

  async saveRemoved(folder: string): Promise<boolean> {
    if (this.#batch.size > 0) await this.#batch.done.catch(() => undefined);
    return this.#log.saveRemoved(folder);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    // A failed write already rejected the matching `put`.
    if (this.#batch.size > 0) await this.#batch.done.catch(() => undefined);
    // After closing, the system may reuse the file descriptor.
    this.#closedError = new FatalError(
      "journal_closed",
      `the journal ${this.#folder} is already closed`,
    );
    this.#fault ??= this.#closedError;
    await this.#syncing;
    this.#log.close();
  }

  /** Caches a record, evicting the least recently used one. */
  #cache(key: string, record: LookupRecord): void {
    this.#repeated.delete(key);
    this.#repeated.set(key, record);
    if (this.#repeated.size <= maxRepeated) return;
    for (const [oldest] of this.#repeated) {
      this.#repeated.delete(oldest);
      return;
    }
  }

  #add(key: string, record: LookupRecord): void {
    const hash = textHash(key);
    const previous = this.#index.newest(hash);
    if (previous > 0 && this.#repeated.has(key)) this.#cache(key, record);
    const offset = this.#log.add({ previous, hash }, recordParts(key, record));
    this.#index.add(hash, offset);
  }

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

  /** Follows a chain back to the newest record of the key. */
  #newest(key: string, hash: number): LookupRecord | null {
    let offset = this.#index.newest(hash);
    while (offset > 0) {
      const bytes = this.#log.at(offset);
      if (bytes === undefined) return null;
      const head = readHead(bytes);
      const found = head.hash === hash ? decodeRecord(bytes, this.#read) : null;
      if (found?.key === key) return found.value;
      offset = this.#index.before(offset, head.previous);
    }
    return null;
  }
}

function nothing(): void {}

/** Default number of chains; 5 million records give chains of 1.2 on average. */
const defaultChains = 2 ** 22;

/**
 * A page has `2 ** pageBits` chains and is allocated when its first record is added. Small, since the
 * few records of a short run are spread over all pages.
 */
const pageBits = 10;
const pageChains = 2 ** pageBits;

/**
 * Finds records by the hash of their key. Each hash maps to a chain; the index holds the offset of
 * the newest record per chain, and each record holds the offset of the one before it. Memory use
 * is at most 17 MiB.
 */
class OffsetIndex {
  /** Offsets of the newest records, by chain. */
  readonly #pages: (Uint32Array | undefined)[];
  readonly #chains: number;
  /** Record offset → previous offset, for records whose own link is broken. */
  readonly #relinked = new Map<number, number>();

  /** @param chains a power of two */
  constructor(chains = defaultChains) {
    this.#chains = chains;
    this.#pages = Array.from({ length: Math.ceil(chains / pageChains) });
  }

  /** Offset of the newest record in the hash's chain; 0 for none. */
  newest(hash: number): number {
    const chain = hash & (this.#chains - 1);
    return this.#pages[chain >>> pageBits]?.[chain & (pageChains - 1)] ?? 0;
  }

  /** Adds a new record, whose `previous` must be the chain's newest. */
  add(hash: number, offset: number): void {
    const chain = hash & (this.#chains - 1);
    const page = (this.#pages[chain >>> pageBits] ??= new Uint32Array(pageChains));
    page[chain & (pageChains - 1)] = offset;
  }

  /**
   * Adds a record read from disk. If its predecessor is damaged, links it to the newest intact
   * record.
   */
  replay(hash: number, offset: number, previous: number): void {
    const newest = this.newest(hash);
    if (newest !== previous) this.#relinked.set(offset, newest);
    this.add(hash, offset);
  }

  /** Offset of the record before this one in its chain; 0 for none. */
  before(offset: number, previous: number): number {
    const earlier = this.#relinked.get(offset) ?? previous;
    return earlier < offset ? earlier : 0;
  }
}

interface ReadJournalOptions {
  /** Folder of the journal. Created with owner-only permissions if missing. */
  readonly folder: string;
  /**
   * Bytes that an earlier session made durable (its `durableBytes`); fewer is damage. @default 0
   */
  readonly durableBytes?: number;
  /** Called when records of an earlier session are damaged or missing. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Reads a journal that no run writes any more: its records in order, with results as received.
 *
 * @throws FatalError `journal_*`
 */
export async function* readJournal(
  options: ReadJournalOptions,
): AsyncGenerator<readonly Keyed<LookupRecord>[]> {
  let log: RecordLog | null = null;
  try {
    log = new RecordLog(options.folder);
    for await (const records of intactRecords(log, options)) {
      yield records.map(({ record }) => decodeRecord(record, { asReceived: true }));
    }
  } catch (error) {
    throw journalFault(options.folder, "read", error);
  } finally {
    log?.close();
  }
}

/** The intact records of earlier sessions, in order. Damaged ones are a warning. */
async function* intactRecords(
  log: RecordLog,
  { folder, durableBytes = 0, onWarning }: ReadJournalOptions,
): AsyncGenerator<readonly LocatedRecord[]> {
  const gaps = { count: 0, from: 0, to: 0 };
  const onGap = (from: number, to: number): void => {
    if (gaps.count++ === 0) Object.assign(gaps, { from, to });
  };
  yield* log.replay(durableBytes, onGap);
  if (gaps.count === 0) return;
  const more = gaps.count === 1 ? "" : `, and in ${gaps.count - 1} more places`;
  onWarning?.(
    `${join(folder, "records")} is damaged between byte ${gaps.from} and byte ${gaps.to}${more}: lookups recorded there may be repeated`,
  );
}
