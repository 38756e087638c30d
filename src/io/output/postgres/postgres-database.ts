import { systemClock } from "../../../core/clock.js";
import { FatalError } from "../../../core/errors.js";
import type { ConnectOptions, TableDatabase } from "../sql/table-database.js";
import { isStarting, isTransient, serverFault } from "./server-fault.js";
import { PostgresSession } from "./postgres-session.js";

/** Attempts per transaction before the run ends as resumable, after 1.5 to 3 minutes. */
export const maxAttempts = 12;

/** First and longest delay before a retry, in milliseconds; it doubles each time. */
const wait = { first: 500, most: 30_000 };

export interface PostgresServer {
  /** The address of a database. It may contain a password: pass it only to the driver. */
  readonly url: string;
  /** What of it is used, for messages. */
  readonly name: string;
}

/** A PostgreSQL database with one session at a time, replaced when its connection is lost. */
export class PostgresDatabase implements TableDatabase {
  readonly #target: PostgresServer;
  readonly #options: ConnectOptions;
  #session: PostgresSession | null = null;
  /** True after the first successful transaction, which proves address and login: before writing, a check. */
  #known: boolean;

  constructor(target: PostgresServer, options: ConnectOptions) {
    this.#target = target;
    this.#options = options;
    this.#known = options.access === "write";
  }

  /**
   * Runs `work` in one transaction and retries it in a new session if the connection is lost.
   * Before the first success, only a starting or full server is retried; an unreachable one is
   * reported at once.
   */
  async transaction<T>(
    work: (session: PostgresSession) => Promise<T>,
    end: "COMMIT" | "ROLLBACK" = "COMMIT",
  ): Promise<T> {
    const { access, onWarning = () => undefined, signal, clock = systemClock } = this.#options;
    // What is read is the database as of one moment.
    const mode = access === "read" ? "REPEATABLE READ READ ONLY" : "READ COMMITTED READ WRITE";
    for (let attempt = 1; ; attempt++) {
      try {
        this.#session ??= await PostgresSession.open(this.#target.url, onWarning);
        const result = await this.#session.transaction(work, `BEGIN ISOLATION LEVEL ${mode}`, end);
        this.#known = true;
        return result;
      } catch (error) {
        const passes = this.#known ? isTransient(error) : isStarting(error);
        if (!passes) throw serverFault(error, this.#target.name);
        await this.close();
        if (signal?.aborted) throw signal.reason;
        if (attempt >= maxAttempts) {
          const reason = serverFault(error, this.#target.name).message;
          throw new FatalError(
            "database_lost",
            `gave up after ${maxAttempts} attempts: ${reason}`,
            {
              cause: error,
              hint: "all rows are safe; when the server is back, continue with --resume",
            },
          );
        }
      }
      await clock.sleep(waitMs(attempt), signal);
    }
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.end();
  }
}

/** Exponential backoff with jitter, so that clients don't reconnect all at once. */
function waitMs(attempt: number): number {
  const span = Math.min(wait.most, wait.first * 2 ** (attempt - 1));
  return span / 2 + (Math.random() * span) / 2;
}
