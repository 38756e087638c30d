import type { Finding } from "../core/finding.js";
import { readHead } from "./journal/finding-record.js";
import { checkSpace, journalFault } from "./journal/journal-fault.js";
import { assureSound } from "./journal/assure-sound.js";
import { LogTurn } from "./journal/log-turn.js";
import { JournalFile, type JournalFileOptions } from "./journal/journal-file.js";
import { newestRecord } from "./journal/newest-record.js";
import { nextBlockStart, slots } from "./journal/record-block.js";
import { RecordGroup } from "./journal/record-group.js";
import { RepeatedFindings } from "./journal/repeated-findings.js";
import { SequenceIndex, type SequenceIndexOptions } from "./journal/sequence-index.js";
import { textHash } from "./journal/text-hash.js";
import { TailLog } from "./journal/tail-log.js";
import type { FindingStore } from "./store.js";

export type JournalOptions = JournalFileOptions & SequenceIndexOptions;

/**
 * Opens the journal of a run with whatever an earlier part of the run put.
 *
 * It is an LMDB environment with a log of the newest records before it. A record is safe from the end
 * of the process as soon as `put` resolves: it is in the log. LMDB takes the log's records over in
 * large transactions, because each of them costs a flush of the disk. `sync` resolves when a loss of
 * power cannot lose what was put before.
 *
 * @throws FatalError when it cannot be opened, or another version of repute wrote it
 */
export async function openJournal(options: JournalOptions): Promise<FindingStore> {
  try {
    await assureSound(options.folder);
    const file = new JournalFile(options);
    const index = new SequenceIndex(file, options);
    await index.load();
    const journal = new Journal(options.folder, file, index);
    await journal.takeOver();
    return journal;
  } catch (error) {
    throw journalFault(options.folder, "open", error);
  }
}

/** How long a record stays in the log otherwise, in milliseconds. */
const groupDelayMs = 1_000;

/**
 * So many records do not wait for the end of the turn: where hundreds of answers come at once, the
 * first requests of the next round leave while the last answers are read. With 16 it was a twentieth
 * slower where answers trickle in.
 */
const appendedAtOnce = 64;

/** Findings kept in memory because they were asked for again. */
const repeatedSize = 1024;

class Journal implements FindingStore {
  readonly #folder: string;
  readonly #file: JournalFile;
  readonly #index: SequenceIndex;
  /** First sequence number of this session: what failed in an earlier one may be asked again. */
  #sessionStart: number;
  readonly #repeated = new RepeatedFindings(repeatedSize);
  readonly #tail: TailLog;
  /** Records on their way to the log, and the promise of those who put them. */
  #unlogged = new LogTurn();
  /** Records that the database does not have yet. */
  #group: RecordGroup;
  /** Those that it is taking over. */
  #writing: RecordGroup | null = null;
  /** One that is free. */
  #spare: RecordGroup | null = null;
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> | null = null;
  /** Resolves when what was taken over last is flushed. */
  #flushed: Promise<void> = Promise.resolve();
  #fault: Error | null = null;

  constructor(folder: string, file: JournalFile, index: SequenceIndex) {
    this.#folder = folder;
    this.#file = file;
    this.#index = index;
    this.#tail = new TailLog(folder);
    this.#sessionStart = nextBlockStart(file.lastSequence() + 1);
    this.#group = new RecordGroup(this.#sessionStart);
  }

  /** Brings what earlier processes left in the log into the database. */
  async takeOver(): Promise<void> {
    for (const { sequence, record } of this.#tail.readRecords()) {
      if (sequence < this.#group.next) continue;
      // A block is written whole.
      if (this.#group.isLarge && sequence % slots === 0) await this.#start();
      this.#index.expect(readHead(record).hash);
      this.#group.takeOver(sequence, record);
    }
    await this.#settle();
    if (this.#fault) throw this.#fault;
    await this.#file.flush();
    this.#tail.clear();
    this.#sessionStart = this.#group.next;
  }

  get(key: string): Finding | null | Promise<Finding | null> {
    const hash = textHash(key);
    if (!this.#index.mayHave(hash)) return null;
    const repeated = this.#repeated.get(key);
    if (repeated) return repeated;
    const finding = this.#read(key, hash);
    if (finding === undefined) return this.#getLater(key);
    if (finding) this.#repeated.add(key, finding);
    return finding;
  }

  async #getLater(key: string): Promise<Finding | null> {
    await this.#start();
    // Then the file was not mapped anew either, and asking again would never end.
    if (this.#fault) throw this.#fault;
    return this.get(key);
  }

  put(key: string, finding: Finding): Promise<void> {
    if (this.#fault) return Promise.reject(this.#fault);
    const hash = textHash(key);
    const mayRepeat = this.#index.mayHave(hash);
    if (mayRepeat) this.#repeated.update(key, finding);
    else this.#index.expect(hash);
    this.#group.add(key, hash, finding, mayRepeat);
    const turn = this.#unlogged;
    turn.size++;
    if (turn.size === 1) setImmediate(() => this.#append(turn));
    else if (turn.size === appendedAtOnce) this.#append(turn);
    return turn.logged;
  }

  /** Appends what came in this turn of the event loop, and lets those go on who put it. */
  #append(turn: LogTurn): void {
    if (turn !== this.#unlogged) return;
    this.#log();
    if (this.#fault === null) this.#schedule();
  }

  /** Brings what was put so far into the log. */
  #log(): void {
    const turn = this.#unlogged;
    if (turn.size === 0) return;
    this.#unlogged = new LogTurn();
    try {
      if (this.#fault) throw this.#fault;
      this.#tail.append(this.#group.takeUnlogged());
      if (this.#group.isFull && this.#work) void this.#work.then(() => turn.resolve());
      else turn.resolve();
    } catch (error) {
      this.#fault ??= journalFault(this.#folder, "write", error);
      turn.reject(this.#fault);
    }
  }

  async sync(): Promise<void> {
    if (this.#unlogged.size > 0) await this.#unlogged.logged;
    if (this.#fault) throw this.#fault;
    try {
      // What the database is taking over is in a log of its own; that goes once it is flushed.
      await Promise.all([this.#tail.sync(), this.#flushed]);
    } catch (error) {
      throw (this.#fault ??= journalFault(this.#folder, "write", error));
    }
  }

  async close(): Promise<void> {
    if (this.#unlogged.size > 0) await this.#unlogged.logged.catch(() => undefined);
    await this.#settle();
    // Who put what could not be written was told; the log has it still.
    await this.#flushed.catch(() => undefined);
    await this.#file.close();
  }

  /** Writes what waits; who put it is told when that fails. */
  async #settle(): Promise<void> {
    while (this.#work || (this.#group.size > 0 && this.#fault === null)) await this.#start();
  }

  #schedule(): void {
    if (this.#work) return;
    if (this.#group.isLarge) void this.#start();
    else this.#timer ??= setTimeout(() => void this.#start(), groupDelayMs);
  }

  /** Writes and tidies up, one thing after the other; never rejects. */
  #start(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#work ??= this.#run().finally(() => {
      this.#work = null;
      if (this.#group.size > 0 && this.#fault === null) this.#schedule();
    });
    return this.#work;
  }

  async #run(): Promise<void> {
    do {
      this.#log();
      // What was not written stays where it is found.
      if (this.#fault) return;
      const group = this.#group;
      this.#group = group.successor(this.#spare);
      this.#spare = null;
      this.#writing = group;
      const dropLog = this.#tail.rotate();
      const taken = this.#write(group);
      this.#flushed = taken.then(() => this.#file.flush()).then(dropLog);
      this.#flushed.catch(() => undefined);
      try {
        await taken;
        this.#writing = null;
        this.#spare = group;
        if (this.#file.crowded) await this.#file.remap();
      } catch (error) {
        this.#fault ??= journalFault(this.#folder, "write", error);
      }
    } while (this.#group.isLarge && this.#fault === null);
  }

  async #write(group: RecordGroup): Promise<void> {
    if (group.size === 0) return;
    checkSpace(this.#folder, group.bytes);
    group.enter(this.#index);
    group.eachBlock((sequence, bytes) => this.#file.writeBlock(sequence, bytes));
    // Faster than entries come in, so that the index is done with before more is due.
    this.#index.spill(Math.ceil(1.5 * group.size));
    await this.#file.committed();
    this.#index.spillWritten();
  }

  /** As `newestRecord`, but for what failed in an earlier session. */
  #read(key: string, hash: number): Finding | null | undefined {
    const places = {
      group: this.#group,
      writing: this.#writing,
      index: this.#index,
      file: this.#file,
    };
    const found = newestRecord(key, hash, places);
    if (!found) return found;
    const isStale = found.finding.status === "failed" && found.sequence < this.#sessionStart;
    return isStale ? null : found.finding;
  }
}
