import { randomUUID } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "@photostructure/sqlite";
import { answersSchema } from "../../../client/store/answer-table.js";
import { Batches } from "../../../client/store/batches.js";
import {
  closeDatabase,
  type Database,
  factsSchema,
  isBusy,
  isCorrupt,
  lacksLocks,
  openStore,
  readFact,
  storeFault,
  structuralDamage,
  systemError,
  writeFact,
} from "../../../client/store/database.js";
import { Journal, type JournalOptions } from "../../../client/store/journal.js";
import { FatalError, ReputeError, startOver, UsageError } from "../../../core/errors.js";
import { outputFault } from "../../../core/files/output-fault.js";
import type { FinishedRun, ResumePoint } from "./checkpoint.js";

const layout = { alone: true, version: 4, schema: answersSchema + factsSchema };

/** The facts that a run relies on. */
interface Facts {
  /** Whose answers there are. */
  readonly service: { readonly name: string };
  readonly checkpoint: ResumePoint;
  readonly finished: FinishedRun;
  /** The file that a run writes, where another run of the same state writes another one. */
  readonly files: { readonly file: string };
}

export const factNames = ["service", "checkpoint", "finished", "files"] as const;

/** Who has a database, for messages. */
interface Runner {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** RFC 3339 UTC. */
  readonly since: string;
}

/**
 * What must survive of a run: its answers, and facts by name. Only one process has it open at a time:
 * this is the lock of the run, which the system frees when the process dies.
 */
export class RunDatabase {
  readonly path: string;
  readonly #database: Database;
  readonly #batches: Batches;

  private constructor(path: string, database: Database) {
    this.path = path;
    this.#database = database;
    this.#batches = new Batches(database, { path, fault: (error) => stateFault(path, error) });
  }

  /**
   * Opens a database, creating it if missing. Warns if its log is damaged: SQLite silently drops
   * everything after that place.
   *
   * @throws UsageError `output_locked`, naming the process that has it; `state_version`;
   *   FatalError `state_damaged`, `output_*`
   */
  static async open(path: string, onWarning?: (message: string) => void): Promise<RunDatabase> {
    for (;;) {
      const database = await openStore(path, layout).catch((error: unknown) => {
        throw isBusy(error) ? locked(path) : stateFault(path, error);
      });
      if (database === null) throw otherVersion(path);
      const run = new RunDatabase(path, database);
      const id = randomUUID();
      try {
        const damage = logDamage(`${path}-wal`, database);
        if (damage !== null) onWarning?.(`${damage}: the answers stored after it are asked again`);
        const runner = { id, pid: process.pid, host: hostname(), since: new Date().toISOString() };
        run.commit(() => run.write("runner", runner));
        // Others read it without a lock, and without the log.
        database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch (error) {
        run.close();
        throw stateFault(path, error);
      }
      // Its file may have been removed before it was locked, and another one be there.
      if (runnerOf(path)?.id === id) return run;
      run.close();
    }
  }

  /** Number of the latest answer; 0 for none. */
  get answers(): number {
    return this.#count("SELECT coalesce(max(n), 0) FROM answers");
  }

  /** Whether no run has written anything. */
  get isEmpty(): boolean {
    const facts = "SELECT count(*) FROM facts WHERE name <> 'runner'";
    return this.answers === 0 && this.#count(facts) === 0;
  }

  #count(query: string): number {
    const row = this.#try(() => this.#database.prepare(query).get()) as Record<string, number>;
    return Object.values(row)[0]!;
  }

  /** Forgets facts, and the answers unless they are kept. */
  forget(names: readonly (keyof Facts)[], keepsAnswers: boolean): void {
    this.commit(() => {
      if (!keepsAnswers) this.#database.exec("DELETE FROM answers");
      for (const name of names) this.write(name, null);
    });
  }

  /** @throws FatalError `state_damaged` */
  read<Name extends keyof Facts>(name: Name): Facts[Name] | null {
    return this.#try(() => readFact(this.#database, name)) as Facts[Name] | null;
  }

  /** Writes a fact, or forgets it. Call it within `commit`. */
  write(name: keyof Facts | "runner", value: object | null): void {
    writeFact(this.#database, name, value);
  }

  /** Makes changes, with the answers so far, or none of them. @throws FatalError */
  commit(work: () => void): void {
    this.#batches.commit(work);
  }

  /** Resolves once what was committed survives a power loss. @throws FatalError */
  sync(): Promise<void> {
    return this.#batches.sync();
  }

  /** Whether its file was removed, so that only this process can read it. */
  isRemoved(): Promise<boolean> {
    return this.#batches.isRemoved();
  }

  /** Copies what is there to a new file. @throws FatalError */
  copyTo(path: string): void {
    this.#try(() => {
      closeSync(openSync(path, "wx", 0o600));
      this.#database.prepare("VACUUM INTO ?").run(path);
    });
  }

  openJournal(options: JournalOptions): Journal {
    return new Journal(this.#database, this.#batches, options);
  }

  /** Checks how it is built. Answers are checked when they are read. @throws FatalError `state_damaged` */
  check(): void {
    const damage = this.#try(() => structuralDamage(this.#database));
    if (damage !== null) throw damaged(this.path, damage);
  }

  /** @throws FatalError `state_damaged` if an answer with this number was never reached */
  mustHave(last: number): void {
    if (this.answers < last) throw damaged(this.path, `answer ${last} is missing`);
  }

  close(): void {
    this.#batches.close();
    closeDatabase(this.#database, true);
  }

  #try<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw stateFault(this.path, error);
    }
  }
}

/** Lengths of the headers of a log and of a frame (https://www.sqlite.org/fileformat2.html#walformat). */
const header = { log: 32, frame: 24 };

/**
 * Says where SQLite's write-ahead log is damaged; null if it is sound or missing. SQLite takes the first
 * frame with a wrong checksum for the end of the log, as if a kill had cut off its write. If more follows
 * a later commit of the same log, the frame was written whole and has changed since.
 *
 * @param database just opened: nothing is written yet
 */
function logDamage(path: string, database: Database): string | null {
  const { log: sound, page_size } = {
    ...(database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as { readonly log: number }),
    ...(database.prepare("PRAGMA page_size").get() as { readonly page_size: number }),
  };
  const frame = header.frame + page_size;
  const log = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (log.length < header.log + frame) return null;
  const saltsAt = (at: number): Buffer => log.subarray(at + 8, at + 16);
  const salts = saltsAt(header.log);
  // A log that starts over counts up the first salt in its own header, before its first frame.
  const startsOver = log.readUInt32BE(16) === (salts.readUInt32BE(0) + 1) >>> 0;
  if (sound === 0 && startsOver) return null;
  const from = header.log + sound * frame;
  let hasCommit = false;
  for (let at = from; at + frame <= log.length && saltsAt(at).equals(salts); at += frame) {
    if (hasCommit) return `${path} is damaged after byte ${sound === 0 ? 0 : from}`;
    hasCommit = log.readUInt32BE(at + 4) !== 0;
  }
  return null;
}

/** Explains an error of SQLite or the system. */
export function stateFault(path: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  if (isCorrupt(path, error)) return damaged(path, storeFault(error), error);
  const fault = outputFault(path, systemError(error));
  if (!lacksLocks(error)) return fault;
  const hint = "name a folder on a local disk with --state-dir";
  return new FatalError(fault.code, `cannot use ${path}: ${storeFault(error)}`, {
    cause: error,
    hint,
  });
}

function damaged(path: string, what: string, cause?: unknown): FatalError {
  return new FatalError("state_damaged", `${path} is damaged: ${what}`, {
    cause,
    hint: `${startOver}: it keeps the answers that can be read`,
  });
}

function otherVersion(path: string): UsageError {
  return new UsageError("state_version", `another version of repute wrote ${path}`, {
    hint: `finish the run with that version, or ${startOver}`,
  });
}

/** Who has the database at a path, read without its lock; null if that cannot be told. */
function runnerOf(path: string): Runner | null {
  try {
    const address = new URL(`${pathToFileURL(path).href}?immutable=1`);
    const database = new DatabaseSync(address, { readOnly: true });
    try {
      return readFact(database, "runner") as Runner | null;
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

function locked(path: string): UsageError {
  const runner = runnerOf(path);
  const where = runner === null || runner.host === hostname() ? "" : ` on ${runner.host}`;
  const who = runner === null ? "" : ` (process ${runner.pid}${where})`;
  const since = runner === null ? "" : `it has been at work since ${runner.since}: `;
  return new UsageError("output_locked", `another run${who} is writing this output`, {
    hint: `${since}wait for it, or write elsewhere`,
  });
}
