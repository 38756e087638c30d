import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { FatalError } from "../../core/errors.js";
import type { LookupRecord } from "../../core/attempt.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { syncFolder } from "../../core/files/sync-folder.js";
import { decodeRecord, readHead, type ReadOptions, recordParts } from "./finding-record.js";
import { journalFault, otherVersion } from "./journal-fault.js";
import { LostRecords } from "./lost-records.js";
import { LogTurn } from "./log-turn.js";
import { PlaceIndex, type PlaceIndexOptions } from "./place-index.js";
import { RecordLog } from "./record-log.js";
import { RepeatedRecords } from "./repeated-records.js";
import { textHash } from "../text-hash.js";
import type { LookupStore } from "../store.js";

export interface JournalOptions extends PlaceIndexOptions {
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
  options: Omit<JournalOptions, "folder">,
): Promise<PlaceIndex> {
  const index = new PlaceIndex(folder, options);
  try {
    const lost = new LostRecords(options.durableBytes ?? 0);
    for await (const records of log.takeUp(lost)) {
      for (const { place, record } of records) {
        index.add(readHead(record).hash, place);
        if (options.onReplay === undefined) continue;
        const { key, value } = decodeRecord(record);
        options.onReplay(key, value);
      }
    }
    const warning = lost.warning(join(folder, "records"));
    if (warning !== null) options.onWarning?.(warning);
    await syncFolder(folder);
    return index;
  } catch (error) {
    await index.close();
    throw error;
  }
}

/**
 * So many records, or bytes of them, do not wait for the end of the turn: where many answers come at
 * once, the first requests of the next round leave while the last answers are read. With 64 records a
 * run whose requests do not ask ahead took an eighth longer; 8 instead of 32 cost one that does 6%.
 */
const writtenAtOnce = { records: 32, bytes: 1024 * 1024 };

/** Records kept in memory because they were asked for again. */
const repeatedSize = 1024;

class Journal implements LookupStore {
  readonly #folder: string;
  readonly #read: ReadOptions;
  readonly #log: RecordLog;
  readonly #index: PlaceIndex;
  readonly #repeated = new RepeatedRecords(repeatedSize);
  /** Records that are not written yet, and the promise of those who put them. */
  #turn = new LogTurn();
  #syncing: Promise<void> = Promise.resolve();
  #durableBytes = 0;
  #fault: Error | null = null;
  /** What those are told who come after it was closed. */
  #left: Error | null = null;
  #closed: Promise<void> | null = null;

  constructor({ folder, asReceived }: JournalOptions, log: RecordLog, index: PlaceIndex) {
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
    if (!this.#index.mayHave(hash)) return null;
    const repeated = this.#repeated.get(key);
    if (repeated) return repeated;
    try {
      const record = this.#newest(key, hash);
      if (record) this.#repeated.add(key, record);
      return record;
    } catch (error) {
      return Promise.reject((this.#fault ??= journalFault(this.#folder, "read", error)));
    }
  }

  put(key: string, record: LookupRecord): Promise<void> {
    if (this.#fault) return Promise.reject(this.#fault);
    const turn = this.#turn;
    try {
      this.#add(key, record);
    } catch (error) {
      return Promise.reject((this.#fault = journalFault(this.#folder, "write", error)));
    }
    turn.size++;
    if (turn.size === 1) setImmediate(() => this.#write(turn));
    const { records, bytes } = writtenAtOnce;
    if (turn.size >= records || this.#log.waiting >= bytes) this.#write(turn);
    return turn.logged;
  }

  async sync(): Promise<void> {
    if (this.#turn.size > 0) await this.#turn.logged;
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
    // Who put what could not be written is told.
    if (this.#turn.size > 0) await this.#turn.logged.catch(() => undefined);
    // The number of the file may be another's from now on.
    this.#left = new FatalError("journal_closed", `the journal ${this.#folder} is closed`);
    this.#fault ??= this.#left;
    await this.#index.close();
    await this.#syncing;
    this.#log.close();
  }

  #add(key: string, record: LookupRecord): void {
    const hash = textHash(key);
    let previous = 0;
    if (this.#index.mayHave(hash)) {
      this.#repeated.update(key, record);
      previous = this.#index.find(hash);
    }
    const place = this.#log.add({ previous, hash }, recordParts(key, record));
    this.#index.add(hash, place);
  }

  /** Writes what came in this turn of the event loop, and lets those go on who put it. */
  #write(turn: LogTurn): void {
    if (turn !== this.#turn) return;
    this.#turn = new LogTurn();
    try {
      if (this.#fault) throw this.#fault;
      this.#log.write();
      turn.resolve();
    } catch (error) {
      this.#fault ??= journalFault(this.#folder, "write", error);
      turn.reject(this.#fault);
    }
  }

  /** Follows the records with a hash back to the newest one with the key. */
  #newest(key: string, hash: number): LookupRecord | null {
    let place = this.#index.find(hash);
    while (place > 0) {
      const bytes = this.#log.at(place);
      if (bytes === undefined) return null;
      const { previous } = readHead(bytes);
      const found = decodeRecord(bytes, this.#read);
      if (found.key === key) return found.value;
      place = previous < place ? previous : 0;
    }
    return null;
  }
}

function nothing(): void {}
