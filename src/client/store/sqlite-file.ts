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
const version = 10;

/**
 * The tables of every file: answers, and facts, which are JSON by name. Each row has a checksum, which
 * SQLite's pages don't have. An answer never changes; a newer one takes its place. `previous` is the
 * number of an earlier answer of the same chain, in a journal.
 */
const schema = `
  CREATE TABLE answers (
    n INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    head TEXT NOT NULL,
    body ANY NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
  PRAGMA user_version = ${version};`;

/** For files that several processes write: the newest answer to a key replaces the others. */
const index = "CREATE UNIQUE INDEX answers_by_hash ON answers (hash);";

/**
 * What a file is for. The answers of a run belong to one process, which keeps all others out until it
 * closes the file; those of a cache belong to all.
 */
type FileUse = "run" | "cache" | "counts";

/** SQLite busy timeout in milliseconds. SQLite waits synchronously, so this blocks the event loop. */
const busyTimeoutMs = { run: 100, cache: 2_000, counts: 1_000 };

/** Lengths of the headers of a log and of a frame (https://www.sqlite.org/fileformat2.html#walformat). */
const header = { log: 32, frame: 24 };

/** Length of the write-ahead log at which it moves into the file: 32 MiB. */
const logBytes = 32 * 1024 * 1024;

const neverChanges = new Int32Array(new SharedArrayBuffer(4));

/** An open file of SQLite. What it throws is an error of SQLite or the system: see `kindOfFault`. */
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
        if (kindOfFault(path, error) !== "busy" || performance.now() >= until) throw error;
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
    if (this.pragma("user_version") !== 0) this.#checkVersion();
    const [mode, sync] = use === "counts" ? ["delete", "FULL"] : ["wal", "NORMAL"];
    if (this.pragma(`journal_mode = ${mode}`) !== mode) throw errorOf(codes.protocol, noLocks);
    database.exec(`
      PRAGMA synchronous = ${sync};
      PRAGMA wal_autocheckpoint = ${logBytes / Number(this.pragma("page_size"))};
      PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF;`);
    // Another process may create them first.
    if (this.pragma("user_version") === 0) {
      this.transact(() => {
        if (this.pragma("user_version") === 0) this.create(use);
      });
    }
    this.#checkVersion();
  }

  /** Creates the tables. */
  create(use: FileUse): void {
    this.database.exec(use === "cache" ? schema + index : schema);
  }

  /** @throws an error of the kind `version` for a file of another version of repute */
  #checkVersion(): void {
    if (this.pragma("user_version") !== version) throw new OtherVersion();
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

  /** Makes all changes or none. */
  transact<T>(work: () => T): T {
    const { database } = this;
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
 * Creates a file that only its owner can read, as those that SQLite puts beside it then are. Throws the
 * system's reason if it cannot be used; SQLite only reports that it cannot open the file.
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
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Another version of repute wrote the file. */
class OtherVersion extends Error {}

/** The error for content that cannot be what was written. */
export function corrupt(what: string): Error {
  return errorOf(codes.corrupt, what);
}

function errorOf(errcode: number, what: string): Error {
  return Object.assign(new Error(what), { errcode });
}

/**
 * The kind of an error: another process holds the lock, and a retry may succeed; the file is damaged, or
 * of another version of repute; the file system lacks what SQLite needs. Null for all others.
 */
export function kindOfFault(
  path: string,
  error: unknown,
): "busy" | "damaged" | "version" | "locks" | null {
  if (error instanceof OtherVersion) return "version";
  const code = codeOf(error);
  if (code === codes.busy) return "busy";
  if (code === codes.protocol) return "locks";
  // A file that is writable but read-only to SQLite has a header of an unknown version.
  const isDamaged = damaged.has(code) || (code === codes.readOnly && isWritable(path));
  return isDamaged ? "damaged" : null;
}

/**
 * Explains an error of SQLite or the system.
 *
 * @param what the file, such as `the cache DIR`
 * @param doing what failed
 */
export function explainFault(path: string, error: unknown, what = path, doing = "use") {
  const [kind, why, cause] = [kindOfFault(path, error), storeFault(error), systemError(error)];
  const failed = kind === "damaged" ? `${what} is damaged` : `cannot ${doing} ${what}`;
  const isOther = kind === "version";
  const message = isOther ? `another version of repute wrote ${what}` : `${failed}: ${why}`;
  return { kind, message, cause };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Why SQLite or the system refused an operation, as the end of a sentence. */
export function storeFault(error: unknown): string {
  const code = codeOf(error);
  if (code === codes.busy) return "another process has locked it for too long";
  return code === codes.protocol ? noLocks : faultReason(systemError(error));
}

/** The system's error for one of SQLite's, where they mean the same. */
function systemError(error: unknown): unknown {
  const code = errnos[codeOf(error) ?? 0];
  return code === undefined ? error : Object.assign(new Error(code, { cause: error }), { code });
}

const noLocks = "SQLite needs a file system with locks and shared memory";

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const codes = {
  error: 1,
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  protocol: 15,
  constraint: 19,
  mismatch: 20,
  notDatabase: 26,
} as const;

/** A rejected statement (`error`) or value means that the tables have changed. */
const damaged: ReadonlySet<number | null> = new Set([
  codes.corrupt,
  codes.notDatabase,
  codes.error,
  codes.constraint,
  codes.mismatch,
]);

const errnos: Readonly<Record<number, string>> = {
  [codes.readOnly]: "EROFS",
  [codes.ioError]: "EIO",
  [codes.full]: "ENOSPC",
};

/** Extended codes for locks and shared memory that a file system lacks. */
const lockFaults: ReadonlySet<number> = new Set([2058, 2314, 3594, 3850, 4618, 5130, 5386]);

/** SQLITE_IOERR_SHMSIZE: no space for shared memory. */
const shmSize = 4874;

/** SQLite's primary result code; null for any other error. */
function codeOf(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  if (typeof errcode !== "number") return null;
  if (errcode === shmSize) return codes.full;
  return lockFaults.has(errcode) ? codes.protocol : errcode & 0xff;
}
