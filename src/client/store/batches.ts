import { type FileHandle, open } from "node:fs/promises";
import type { ReputeError } from "../../core/errors.js";
import type { Database } from "./database.js";

/** Changes that are stored together, and how long they wait for each other, in milliseconds. */
const batch = { changes: 256, ms: 20 };

interface BatchesOptions {
  /** Path of the database. */
  readonly path: string;
  /** Explains an error of SQLite or the system. */
  readonly fault: (error: unknown) => ReputeError;
}

/**
 * The changes of a database that this process has alone. A transaction is open for 256 changes or 20 ms
 * at most, so a killed process loses no more of them. After a fault, there are no others.
 */
export class Batches {
  readonly #database: Database;
  readonly #options: BatchesOptions;
  /** When the open transaction began, in milliseconds. */
  #begun = 0;
  /** Changes in the open transaction. */
  #open = 0;
  #timer: NodeJS.Timeout | null = null;
  #log: FileHandle | null = null;
  #fault: ReputeError | null = null;

  constructor(database: Database, options: BatchesOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** Makes a change, which is stored with others. @throws ReputeError */
  add(change: () => void): void {
    this.#try(() => {
      this.#begin();
      change();
      // A busy event loop calls timers late.
      const isDue = performance.now() - this.#begun >= batch.ms;
      if (++this.#open >= batch.changes || isDue) this.#commit();
    });
  }

  /** Stores the changes so far, and with them what else is written meanwhile. @throws ReputeError */
  commit(also: () => void = () => undefined): void {
    this.#try(() => {
      this.#begin();
      also();
      this.#commit();
    });
  }

  /** Resolves once what is stored survives a power loss. @throws ReputeError */
  async sync(): Promise<void> {
    this.commit();
    try {
      // SQLite would sync its log only when that moves into the file.
      this.#log ??= await open(`${this.#options.path}-wal`, "r");
      await this.#log.datasync();
    } catch (error) {
      // Its folder may be gone; the next step of the run says so.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw this.fail(error);
    }
  }

  /** Whether the file was removed, so that only this process can read it. */
  async isRemoved(): Promise<boolean> {
    return (await this.#log?.stat())?.nlink === 0;
  }

  /** Explains a fault, after which nothing is stored. */
  fail(error: unknown): ReputeError {
    this.#stopWaiting();
    return (this.#fault ??= this.#options.fault(error));
  }

  close(): void {
    this.#settle();
    this.#log?.close().catch(() => undefined);
    this.#log = null;
  }

  /** Stores what can be stored; the rest is asked again. */
  #settle(): void {
    try {
      if (this.#timer !== null) this.#commit();
    } catch (error) {
      this.fail(error);
    }
  }

  #begin(): void {
    if (this.#timer !== null) return;
    this.#database.exec("BEGIN IMMEDIATE");
    this.#begun = performance.now();
    this.#timer = setTimeout(() => this.#settle(), batch.ms);
  }

  #commit(): void {
    this.#database.exec("COMMIT");
    this.#open = 0;
    this.#stopWaiting();
  }

  #stopWaiting(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #try(work: () => void): void {
    if (this.#fault !== null) throw this.#fault;
    try {
      work();
    } catch (error) {
      throw this.fail(error);
    }
  }
}
