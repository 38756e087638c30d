import { systemClock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import type { ConnectOptions, TableDatabase } from "../warehouse/table-database.js";
import type { PostgresTarget } from "../warehouse/target.js";
import { isBusy, isPassing, serverFault } from "./server-fault.js";
import { loadPostgres, type PostgresDriver, Session } from "./session.js";

/** Tries at one transaction before the run ends, resumable: one and a half to three minutes. */
export const mostTries = 12;

/** Bounds of the wait before a try, in milliseconds; it doubles with each. */
const wait = { first: 500, most: 30_000 };

/** A PostgreSQL database: one session at a time, and a new one where it is lost. */
export class PostgresDatabase implements TableDatabase {
  readonly #driver: PostgresDriver;
  readonly #target: PostgresTarget;
  readonly #options: ConnectOptions;
  #session: Session | null = null;
  /** A transaction has succeeded, so that the address and the login are right. */
  #known = false;

  private constructor(driver: PostgresDriver, target: PostgresTarget, options: ConnectOptions) {
    this.#driver = driver;
    this.#target = target;
    this.#options = options;
  }

  /** Connects when there is something to do. @throws UsageError `driver_missing` */
  static async open(target: PostgresTarget, options: ConnectOptions): Promise<PostgresDatabase> {
    return new PostgresDatabase(await loadPostgres(), target, options);
  }

  /**
   * Runs a piece of work in one transaction, on a new session and again where the old one is lost.
   * Before the first success, a server that is starting or full is waited for; one that is not
   * there is a mistake or a fault to be told of.
   *
   * @throws ReputeError, `database_lost` when it was tried often enough; the signal's reason
   */
  async transaction<T>(work: (session: Session, again: boolean) => Promise<T>): Promise<T> {
    const { onWarning, signal, clock = systemClock } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        this.#session ??= await Session.open(this.#driver, this.#target.url, onWarning);
        const result = await this.#session.transaction((session) => work(session, tries > 1));
        this.#known = true;
        return result;
      } catch (error) {
        const passes = this.#known ? isPassing(error) : isBusy(error);
        if (!passes) throw serverFault(error, this.#target.display);
        await this.close();
        if (signal?.aborted) throw signal.reason;
        if (tries >= mostTries) throw this.#lost(error);
      }
      await clock.sleep(waitMs(tries), signal);
    }
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.end();
  }

  #lost(error: unknown): Error {
    const reason = serverFault(error, this.#target.display).message;
    return new FatalError("database_lost", `gave up after ${mostTries} tries: ${reason}`, {
      cause: error,
      hint: "what was committed is there; when the server is back, go on with --resume",
    });
  }
}

/** From half of a doubling span to all of it, so that what was lost together comes back apart. */
function waitMs(tries: number): number {
  const span = Math.min(wait.most, wait.first * 2 ** (tries - 1));
  return span / 2 + (Math.random() * span) / 2;
}
