import type { Clock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import { isPassing, isBusy, serverFault } from "./server-fault.js";
import { Session, loadPostgres } from "./session.js";
import type { PostgresDriver } from "./session.js";

export interface ConnectionOptions {
  /** Address with everything that pg understands; it may hold a password. */
  readonly url: string;
  /** What to call the database in messages. */
  readonly display: string;
  readonly clock: Clock;
  /** Numbers from 0 to below 1, for the jitter. */
  readonly random: () => number;
  /** Aborting it ends the waiting between two tries. */
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
}

/** Tries at one transaction before the run ends, resumable: one and a half to three minutes. */
export const mostTries = 12;

/** Bounds of the wait before a try, in milliseconds; it doubles with each. */
const wait = { first: 500, most: 30_000 };

/**
 * The way to the database: one session at a time, and a new one where it is lost.
 */
export class Connection {
  readonly #driver: PostgresDriver;
  readonly #options: ConnectionOptions;
  #session: Session | null = null;

  private constructor(driver: PostgresDriver, options: ConnectionOptions) {
    this.#driver = driver;
    this.#options = options;
  }

  /**
   * Connects for the first time and runs a piece of work, which prepares what is needed. A server
   * that is starting or full is waited for; one that is not there is a mistake or a fault to be told of.
   */
  static async open<T>(
    options: ConnectionOptions,
    work: (session: Session) => Promise<T>,
  ): Promise<readonly [Connection, T]> {
    const connection = new Connection(await loadPostgres(), options);
    try {
      return [connection, await connection.#untilDone(work, isBusy)];
    } catch (error) {
      await connection.end();
      throw error;
    }
  }

  /**
   * Runs a piece of work in one transaction, on a new session and again where the old one is lost.
   *
   * @param work its second argument is true when an earlier try may have been committed although
   * nobody was told
   * @throws FatalError `database_lost` when it was tried often enough; the signal's reason
   */
  transaction<T>(work: (session: Session, again: boolean) => Promise<T>): Promise<T> {
    return this.#untilDone(work, isPassing);
  }

  async end(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.end();
  }

  async #untilDone<T>(
    work: (session: Session, again: boolean) => Promise<T>,
    passes: (error: unknown) => boolean,
  ): Promise<T> {
    const { display, signal, clock } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        this.#session ??= await this.#connect();
        return await this.#session.transaction((session) => work(session, tries > 1));
      } catch (error) {
        if (!passes(error)) throw serverFault(error, display);
        await this.end();
        if (signal.aborted) throw signal.reason;
        if (tries >= mostTries) throw this.#lost(error);
      }
      await clock.sleep(this.#waitMs(tries), signal);
    }
  }

  #connect(): Promise<Session> {
    return Session.open(this.#driver, this.#options.url, this.#options.onWarning);
  }

  /** From half of a doubling span to all of it, so that what was lost together comes back apart. */
  #waitMs(tries: number): number {
    const span = Math.min(wait.most, wait.first * 2 ** (tries - 1));
    return span / 2 + (this.#options.random() * span) / 2;
  }

  #lost(error: unknown): Error {
    const { display } = this.#options;
    const reason = serverFault(error, display).message;
    return new FatalError("database_lost", `gave up after ${mostTries} tries: ${reason}`, {
      cause: error,
      hint: "what was committed is there; when the server is back, go on with --resume",
    });
  }
}
