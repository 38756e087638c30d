import { randomUUID } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
import { DatabaseSync } from "@photostructure/sqlite";
import { answersSchema } from "../../../client/store/answer-table.js";
import {
  closeDatabase,
  corrupt,
  type Database,
  isBusy,
  isCorrupt,
  lacksLocks,
  openStore,
  storeFault,
  structuralDamage,
  systemError,
  transact,
} from "../../../client/store/database.js";
import { Journal, type JournalOptions } from "../../../client/store/journal.js";
import { FatalError, ReputeError, startOver, UsageError } from "../../../core/errors.js";
import { outputFault } from "../../../core/files/output-fault.js";
import { databaseName, type FinishedRun, type ResumePoint } from "./checkpoint.js";
import { logDamage } from "./log-damage.js";

export const runLayout = {
  alone: true,
  version: 1,
  schema: `${answersSchema}
    CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;`,
};

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
 * What must survive of a run: its answers, and facts by name, each with a checksum. Only one process
 * has it open at a time: this is the lock of the run, which the system frees when the process dies.
 */
export class RunDatabase {
  readonly path: string;
  readonly #database: Database;
  #journal: Journal | null = null;

  private constructor(path: string, database: Database) {
    this.path = path;
    this.#database = database;
  }

  /**
   * Opens the database in a folder, creating it if missing. Warns if its log is damaged: SQLite silently
   * drops everything after that place.
   *
   * @throws UsageError `output_locked`, naming the process that has it; `state_version`;
   *   FatalError `state_damaged`, `output_*`
   */
  static async open(folder: string, onWarning?: (message: string) => void): Promise<RunDatabase> {
    const path = join(folder, databaseName);
    const host = hostname();
    for (;;) {
      const damage = logDamage(`${path}-wal`);
      const database = await openStore(path, runLayout).catch((error: unknown) => {
        throw isBusy(error) ? locked(path) : stateFault(path, error);
      });
      if (database === null) throw otherVersion(path);
      if (damage !== null) onWarning?.(`${damage}: the answers stored after it are asked again`);
      const run = new RunDatabase(path, database);
      const runner: Runner = {
        id: randomUUID(),
        pid: process.pid,
        host,
        since: new Date().toISOString(),
      };
      try {
        run.commit(() => run.write("runner", runner));
        // Others read it without a lock, and without the log.
        database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch (error) {
        run.close();
        throw stateFault(path, error);
      }
      // Its file may have been removed before it was locked, and another one be there.
      if (runnerOf(path)?.id === runner.id) return run;
      run.close();
    }
  }

  /** Number of the latest answer; 0 for none. */
  get answers(): number {
    return this.#try(() => {
      const { last } = this.#database
        .prepare("SELECT coalesce(max(n), 0) last FROM answers")
        .get() as { readonly last: number };
      return last;
    });
  }

  /** Whether no run has written anything. */
  get isEmpty(): boolean {
    const facts = "SELECT count(*) facts FROM run WHERE name <> 'runner'";
    return this.#try(
      () => this.answers === 0 && Object.values(this.#database.prepare(facts).get() ?? {})[0] === 0,
    );
  }

  /** Forgets all answers. */
  forgetAnswers(): void {
    this.commit(() => this.#database.exec("DELETE FROM answers"));
  }

  /** Forgets everything. */
  clear(): void {
    this.commit(() => {
      this.#database.exec("DELETE FROM answers");
      for (const name of factNames) this.write(name, null);
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
    if (this.#journal?.isOpen === true) this.#journal.commit(work);
    else this.#try(() => transact(this.#database, work));
  }

  /** Resolves once what was committed survives a power loss. */
  async sync(): Promise<void> {
    if (this.#journal?.isOpen === true) await this.#journal.sync();
    else this.#try(() => this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
  }

  /** The answers. The caller closes them before the database. */
  openJournal(options: Pick<JournalOptions, "asReceived" | "taken">): Journal {
    const { path } = this;
    const fault = (error: unknown): ReputeError => stateFault(path, error);
    return (this.#journal = new Journal(this.#database, { ...options, path, fault }));
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

  /** Whether its file was removed, so that only this process can read it. */
  async isRemoved(): Promise<boolean> {
    return (await this.#journal?.isRemoved()) === true;
  }

  /** Copies what is there to a new file. */
  copyTo(path: string): void {
    this.#try(() => {
      closeSync(openSync(path, "wx", 0o600));
      this.#database.prepare("VACUUM INTO ?").run(path);
    });
  }

  close(): void {
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

/** @throws an error of SQLite's code for damage */
export function readFact(database: Database, name: string): object | null {
  const found = database.prepare("SELECT value, checksum FROM run WHERE name = ?").get(name);
  if (found === undefined) return null;
  const { value, checksum } = found as { readonly value: string; readonly checksum: number };
  if (checksum === crc32(`${name} ${value}`)) return JSON.parse(value) as object;
  throw corrupt(`its ${name} has a wrong checksum`);
}

export function writeFact(database: Database, name: string, value: object | null): void {
  if (value === null) {
    database.prepare("DELETE FROM run WHERE name = ?").run(name);
    return;
  }
  const text = JSON.stringify(value);
  const insert = database.prepare("INSERT OR REPLACE INTO run VALUES (?, ?, ?)");
  insert.run(name, text, crc32(`${name} ${text}`));
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
