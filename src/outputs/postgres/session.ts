import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import type { from as copyFrom } from "pg-copy-streams";
import { FatalError } from "../../core/errors.js";
import type { Query } from "../warehouse/run-rows.js";
import { loadDriver } from "../warehouse/load-driver.js";
import { loginAddress } from "./login-address.js";
import { isPassing } from "./server-fault.js";

/** What is used of pg and pg-copy-streams. */
export interface PostgresDriver {
  readonly Client: typeof Client;
  readonly copyFrom: typeof copyFrom;
}

/** Loads the optional dependencies. @throws UsageError `driver_missing` */
export async function loadPostgres(): Promise<PostgresDriver> {
  const { Client } = await loadDriver("pg", () => import("pg"));
  const { from } = await loadDriver("pg-copy-streams", () => import("pg-copy-streams"));
  return { Client, copyFrom: from };
}

/**
 * Limits of one transaction, for this one alone (SET LOCAL): parameters at the start of a session
 * are refused by some poolers. The keepalives let the server notice a client that is gone
 * and release the locks that another may be waiting for.
 */
const limits = {
  lock_timeout: "60s",
  statement_timeout: "10min",
  idle_in_transaction_session_timeout: "2min",
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
};

/** How long pg waits for any answer: longer than the server lets a statement run. */
const answerTimeoutMs = 11 * 60_000;

/** How long a connection may take to come about. */
const connectTimeoutMs = 30_000;

/** How long a connection may take to end in good order. */
const endTimeoutMs = 2_000;

/** One connection to the server. */
export class Session {
  readonly #client: Client;
  readonly #driver: PostgresDriver;
  readonly #begin: string;

  private constructor(driver: PostgresDriver, client: Client, begin: string) {
    this.#driver = driver;
    this.#client = client;
    this.#begin = begin;
  }

  /**
   * Connects and logs in.
   *
   * @param url address with everything that pg understands
   * @throws what pg throws
   */
  static async open(
    driver: PostgresDriver,
    url: string,
    onWarning: (message: string) => void,
  ): Promise<Session> {
    const client = new driver.Client({
      connectionString: await loginAddress(driver, url, onWarning),
      application_name: "repute",
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: answerTimeoutMs,
    });
    // A pending query fails by itself; between transactions the next one notices.
    client.on("error", () => undefined);
    try {
      await client.connect();
    } catch (error) {
      // It may be open and wait for a password.
      client.connection.stream.destroy();
      throw error;
    }
    const given = new URL(url).searchParams;
    const settings = Object.entries(limits).filter(([name]) => !given.has(name));
    const begin = settings.map(([name, value]) => `SET LOCAL ${name} = '${value}'`);
    return new Session(
      driver,
      client,
      ["BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", ...begin].join("; "),
    );
  }

  /** Runs a piece of work in one transaction: all of it is there afterwards, or nothing. */
  async transaction<T>(work: (session: this) => Promise<T>): Promise<T> {
    await this.#client.query(this.#begin);
    let result: T;
    try {
      result = await work(this);
    } catch (error) {
      // A connection that is gone or hangs takes its transaction with it.
      if (!isPassing(error)) await this.#client.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
    const { command } = await this.#client.query("COMMIT");
    // COMMIT of a transaction that failed is answered with ROLLBACK and no error.
    if (command !== "COMMIT") {
      throw new FatalError("database_error", "the server rolled a transaction back");
    }
    return result;
  }

  async rows<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    const { rows } = await this.#client.query<R & object>(text, [...values]);
    return rows;
  }

  /**
   * Waits until no other transaction writes for a run: one of a connection that was lost may still
   * be under way. Held until the end of the transaction.
   */
  async lockRun(runId: string): Promise<void> {
    await this.rows("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [
      `repute run ${runId}`,
    ]);
  }

  /** The rows as lists of cells. */
  readonly query: Query = async (text, values = []) => {
    const { rows } = await this.#client.query<(string | null)[]>({
      text,
      values: [...values],
      rowMode: "array",
    });
    return rows;
  };

  async execute(text: string): Promise<void> {
    await this.#client.query(text);
  }

  /** Sends data as COPY … FROM STDIN. @returns how many rows the server took */
  copy(statement: string, data: readonly Buffer[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const stream = this.#client.query(this.#driver.copyFrom(statement));
      let refused = false;
      stream.on("error", (error) => {
        refused = true;
        reject(error);
      });
      stream.once("finish", () => resolve(stream.rowCount));
      // One piece after the other, and none after a refusal: the stream has let go of its
      // connection then and would fail on it where nobody listens.
      const send = (index: number): void => {
        if (refused) return;
        const piece = data[index];
        if (piece === undefined) stream.end();
        else stream.write(piece, () => send(index + 1));
      };
      send(0);
    });
  }

  /** Ends the connection; one that does not answer is left to the system. */
  async end(): Promise<void> {
    const late = new AbortController();
    const timeout = delay(endTimeoutMs, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([this.#client.end().catch(() => undefined), timeout]);
    late.abort();
    // What is left of it must not keep the program from ending.
    this.#client.connection.stream.destroy();
  }
}
