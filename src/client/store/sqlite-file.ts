import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { faultReason } from "../../core/files/system-fault.js";

/** Version of the tables and of what is in them, in every file. Increase when either changes. */
const version = 13;

/**
 * The tables of every file: answers, and facts, which are JSON by name. Each row has a checksum, which
 * SQLite's pages don't have. An answer never changes; a newer one takes its place. It is found by its
 * `link`: in a cache, the hash of its key; in a journal, the number of an earlier answer of its chain.
 */
const schema = `
  CREATE TABLE answers (
    n INTEGER PRIMARY KEY,
    link INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    head TEXT NOT NULL,
    body TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
  PRAGMA user_version = ${version};`;

/** For files that several processes write: the newest answer to a key replaces the others. */
const index = "CREATE UNIQUE INDEX answers_by_link ON answers (link);";

/**
 * What a file is for. The answers of a run belong to one process, which keeps all others out until it
 * closes the file. Those of a cache, and the counts of quotas, are shared by all.
 */
type FileUse = "run" | "cache" | "counts";

/** SQLite busy timeout in milliseconds. SQLite waits synchronously, so this blocks the event loop. */
const busyTimeoutMs = { run: 100, cache: 2_000, counts: 1_000 };

/** Lengths of the headers of a log and of a frame (https://www.sqlite.org/fileformat2.html#walformat). */
const header = { log: 32, frame: 24 };

/** Length of the write-ahead log at which it moves into the file: 32 MiB. */
const logBytes = 32 * 1024 * 1024;

const neverChanges = new Int32Array(new SharedArrayBuffer(4));

/** An open file of SQLite. What it throws is an error of SQLite or the system: see `explainFault`. */
export class SqliteFile {
  readonly path: string;
  readonly database: DatabaseSyncInstance;
  readonly #inode: number | undefined;
  #isAlone = false;

  constructor(path: string, timeout = busyTimeoutMs.run) {
    this.path = path;
    this.#inode = inodeOf(path);
    this.database = new DatabaseSync(path, { timeout });
  }

  /**
   * Opens a file, creating it if missing. A write-ahead log is synced only when it moves into the file,
   * so a power loss costs the latest transactions and never damages the file. Counts have none: they are
   * small, and durable with each transaction.
   */
  static open(path: string, use: FileUse): SqliteFile {
    createPrivate(path);
    const until = performance.now() + busyTimeoutMs[use];
    for (;;) {
      const file = new SqliteFile(path, busyTimeoutMs[use]);
      try {
        file.#setUp(use);
        return file;
      } catch (error) {
        file.database.close();
        if (meaningOf(error) !== "busy" || performance.now() >= until) throw error;
      }
      // SQLite does not wait for a process that turns on the log.
      Atomics.wait(neverChanges, 0, 0, 20);
    }
  }

  /** Whether its path still leads to it, not to another file or none. */
  get isInPlace(): boolean {
    return inodeOf(this.path) === this.#inode;
  }

  #setUp(use: FileUse): void {
    const { database } = this;
    this.#isAlone = use === "run";
    // Large pages hold more answers in less space; few of them change at once without an index.
    if (this.#isAlone) database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 8192");
    this.#isNew();
    const [mode, sync] = use === "counts" ? ["delete", "FULL"] : ["wal", "NORMAL"];
    if (this.pragma(`journal_mode = ${mode}`) !== mode) throw errorOf(codes.locks[0], noLocks);
    database.exec(`
      PRAGMA synchronous = ${sync};
      PRAGMA wal_autocheckpoint = ${logBytes / Number(this.pragma("page_size"))};
      PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF;`);
    // Another process may create them first.
    if (this.#isNew()) this.transact(() => this.#isNew() && this.create(use));
  }

  /** Whether it has no tables yet. @throws an error with the code `version` */
  #isNew(): boolean {
    const found = this.pragma("user_version");
    if (found !== 0 && found !== version) throw errorOf("version", "another version");
    return found === 0;
  }

  /** Creates the tables. */
  create(use: FileUse): void {
    this.database.exec(use === "cache" ? schema + index : schema);
  }

  pragma(name: string): unknown {
    return this.value(`PRAGMA ${name}`);
  }

  /** The first value that a statement returns. */
  value(sql: string): unknown {
    const row = this.database.prepare(sql).get() as Record<string, unknown> | undefined;
    return Object.values(row ?? {})[0];
  }

  /** Checks how the file is built. Rows are checked when they are read. */
  check(): void {
    const found = this.pragma("quick_check(1)");
    if (found !== "ok") throw corrupt(String(found).replaceAll(/\s+/g, " "));
  }

  /**
   * Says where the write-ahead log is damaged; null if it is sound or missing. SQLite takes the first
   * frame with a wrong checksum for the end of the log, as if a kill had cut off its write. If more follows
   * a later commit of the same log, the frame was written whole and has changed since. Call this before
   * anything is written.
   */
  damageOfLog(): string | null {
    const path = `${this.path}-wal`;
    const { log: sound } = this.database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as {
      readonly log: number;
    };
    const frame = header.frame + Number(this.pragma("page_size"));
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

  /** Writes a copy to a new file that only its owner can read. */
  copyTo(path: string): void {
    createPrivate(path);
    this.database.prepare("VACUUM INTO ?").run(path);
  }

  /** Makes all changes or none. Ends a transaction that only read. */
  transact<T>(work: () => T): T {
    const { database } = this;
    this.endReads();
    database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite has already rolled back after errors that end the transaction.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Ends a transaction that only read. */
  endReads(): void {
    if (this.database.isTransaction) this.database.exec("COMMIT");
  }

  /** Reads a fact; null if there is none. */
  read(name: string): unknown {
    const query = "SELECT value, checksum FROM facts WHERE name = ?";
    const found = this.database.prepare(query).get(name);
    if (found === undefined) return null;
    const { value, checksum } = found as { readonly value: string; readonly checksum: number };
    if (checksum === crc32(`${name} ${value}`)) return JSON.parse(value);
    throw corrupt(`its ${name} has a wrong checksum`);
  }

  /** Writes facts. */
  write(facts: Readonly<Record<string, unknown>>): void {
    const insert = this.database.prepare("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)");
    for (const [name, value] of Object.entries(facts)) {
      const text = JSON.stringify(value);
      insert.run(name, text, crc32(`${name} ${text}`));
    }
  }

  /**
   * Closes the file. The driver keeps it open and locked until its prepared statements are garbage
   * collected or the process ends, so the log moves into the file and the lock is given up here.
   */
  close(): void {
    const { database } = this;
    try {
      if (database.isTransaction) database.exec("ROLLBACK");
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      if (this.#isAlone) this.#unlock();
    } catch {
      // The log is still intact and the next reader uses it.
    }
    database.close();
  }

  /** An exclusive lock can only be released once the write-ahead log is gone. */
  #unlock(): void {
    try {
      this.database.exec("PRAGMA journal_mode = DELETE");
    } catch {
      // In a folder that was moved or cannot be written any more, no other file can be made.
      this.database.exec("PRAGMA journal_mode = MEMORY");
    }
    this.database.exec("PRAGMA locking_mode = NORMAL");
    this.pragma("user_version");
  }
}

/**
 * Creates a missing file that only its owner can read; SQLite gives those beside it the same mode. Throws
 * the system's error if it cannot be used; SQLite only reports that it cannot open the file.
 */
function createPrivate(path: string): void {
  accessSync(dirname(path), constants.W_OK);
  // Never opens a file that exists: closing it would release this process's locks on it
  // (https://www.sqlite.org/howtocorrupt.html#posix_close_bug).
  if (existsSync(path)) return accessSync(path, constants.R_OK | constants.W_OK);
  // Another process may have created it since.
  closeSync(openSync(path, "a", 0o600));
}

/** Tells a file from another one that takes its place. */
function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** The error for content that cannot be what was written. */
export function corrupt(what: string): Error {
  return errorOf(codes.damaged[0], what);
}

function errorOf(errcode: number | string, what: string): Error {
  return Object.assign(new Error(what), { errcode });
}

/**
 * What SQLite's result codes mean (https://www.sqlite.org/rescode.html): a kind of fault, or the error
 * of the system that says the same.
 */
const codes = {
  busy: [5],
  // A rejected statement (1) or value (19, 20) means that the tables have changed. The driver refuses to
  // read numbers beyond 2^53, and none is ever written.
  damaged: [11, 1, 19, 20, 26, "ERR_OUT_OF_RANGE"],
  version: ["version"],
  // The extended codes are for locks and shared memory.
  locks: [15, 2058, 2314, 3594, 3850, 4618, 5130, 5386],
  EROFS: [8],
  EIO: [10],
  // No space for shared memory (4874), too.
  ENOSPC: [13, 4874],
} as const;

type Fault = Partial<Record<"code" | "errcode", number | string>>;

function meaningOf(error: unknown): keyof typeof codes | undefined {
  const { code, errcode = code } = (error ?? {}) as Fault;
  const names = Object.keys(codes) as (keyof typeof codes)[];
  const meaning = (sought: unknown) =>
    names.find((name) => codes[name].some((one) => one === sought));
  return meaning(errcode) ?? (typeof errcode === "number" ? meaning(errcode & 0xff) : undefined);
}

const noLocks = "SQLite needs a file system with locks and shared memory";

/**
 * Explains an error of SQLite or the system. Its kind is `busy` if another process holds the lock, and a
 * retry may succeed; `damaged`; `version` if another version of repute wrote the file; `locks` if the
 * file system lacks what SQLite needs.
 *
 * @param what the file, such as `the cache DIR`
 * @param doing what failed
 */
export function explainFault(path: string, error: unknown, what = path, doing = "use") {
  const meaning = meaningOf(error);
  // A file that is writable but read-only to SQLite has a header of an unknown version.
  const kind = meaning === "EROFS" && isWritable(path) ? "damaged" : meaning;
  const isOfSystem = kind?.startsWith("E") === true;
  const cause = isOfSystem
    ? Object.assign(new Error(kind, { cause: error }), { code: kind })
    : error;
  const reasons = { busy: "another process has locked it for too long", locks: noLocks };
  const why = kind === "busy" || kind === "locks" ? reasons[kind] : faultReason(cause);
  const failed = kind === "damaged" ? `${what} is damaged` : `cannot ${doing} ${what}`;
  const isOther = kind === "version";
  const message = isOther ? `another version of repute wrote ${what}` : `${failed}: ${why}`;
  return { kind, why, message, cause };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
