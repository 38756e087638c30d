import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { systemClock } from "../../../core/clock.js";
import { FatalError, continueRun } from "../../../core/errors.js";
import { loadDriver } from "../../../core/load-driver.js";
import {
  type AccessOptions,
  type Dialect,
  type Query,
  quoteTable,
  tableFacts,
  type TableSession,
} from "../sql/dialect.js";
import type { Stage } from "../stage.js";
import { isStarting, isTransient, serverFault } from "./fault.js";
import { copyFromPostgres, linesAsTheyAre, loadCopyStreams } from "./read.js";

/** Attempts per transaction before the run ends as resumable, after 1.5 to 3 minutes. */
export const maxAttempts = 12;

/** First and longest delay before a retry, in milliseconds; it doubles each time. */
const wait = { first: 500, most: 30_000 };

/**
 * Does some work in a PostgreSQL database, as `TableAddress.transact`, in a new connection if one is
 * lost. Only what writes has been checked: before, only a starting or full server is tried again, and an
 * unreachable one is reported at once.
 *
 * @param url address of the database. It may contain a password: pass it only to the driver
 */
export async function transactInPostgres<T>(
  dialect: Dialect,
  url: string,
  { name, access, onWarning = () => undefined, signal, clock = systemClock }: AccessOptions,
  work: (session: TableSession) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let client: Client | null = null;
    try {
      client = await connect(url, onWarning);
      const session = sessionOf(dialect, client, signal);
      return await transact(client, url, access, () => work(session));
    } catch (error) {
      const fault = serverFault(error, name);
      if (!(access === "write" ? isTransient(error) : isStarting(error))) throw fault;
      signal?.throwIfAborted();
      if (attempt >= maxAttempts) {
        const said = `gave up after ${maxAttempts} attempts: ${fault.message}`;
        throw new FatalError("database_lost", said, {
          cause: error,
          hint: `all rows are safe; when the server is back, ${continueRun}`,
        });
      }
    } finally {
      if (client !== null) await disconnect(client);
    }
    // With jitter, so that clients don't reconnect all at once.
    const span = Math.min(wait.most, wait.first * 2 ** (attempt - 1));
    await clock.sleep(span / 2 + (Math.random() * span) / 2, signal);
  }
}

async function transact<T>(
  client: Client,
  url: string,
  access: AccessOptions["access"],
  work: () => Promise<T>,
): Promise<T> {
  // What is read is the database as of one moment.
  const isolation = access === "read" ? "REPEATABLE READ READ ONLY" : "READ COMMITTED READ WRITE";
  const given = new URL(url).searchParams;
  const limits = Object.entries(sessionLimits).filter(([name]) => !given.has(name));
  const settings = limits.map(([name, value]) => `SET LOCAL ${name} = '${value}'`);
  await client.query([`BEGIN ISOLATION LEVEL ${isolation}`, ...settings].join("; "));
  // Work that fails ends with its connection.
  const result = await work();
  const end = access === "write" ? "COMMIT" : "ROLLBACK";
  const { command } = await client.query(end);
  // COMMIT of a failed transaction returns ROLLBACK without an error.
  if (command !== end) {
    const message = "the server rolled back a transaction instead of committing it";
    throw new FatalError("database_error", message);
  }
  return result;
}

/** What is asked of a connection within a transaction. */
function sessionOf(
  dialect: Dialect,
  client: Client,
  signal: AbortSignal | undefined,
): TableSession {
  const query: Query = async (text, values = []) => {
    const asked = { text, values: [...values], rowMode: "array" } as const;
    return (await client.query<(string | boolean | null)[]>(asked)).rows;
  };
  return {
    dialect,
    query,
    stagedRows: (stage) => stagedRows(client, stage),
    copy: (selection, path) => copyFromPostgres(client, selection, path, signal),
    async find(table) {
      const [found] = await query(
        `SELECT n.nspname, c.relkind IN ('r', 'p') FROM pg_class c
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)`,
        [quoteTable(dialect, table)],
      );
      if (found === undefined) return null;
      const notTable = found[1] ? null : "exists but is not a table";
      return { schema: String(found[0]), name: table.name, notTable };
    },
    factsOf(table) {
      const facts = query(
        // Defaults, identities, generated columns, domains and triggers fill a column, too.
        `SELECT json_build_object(
           'columns', ARRAY(
             SELECT json_build_object('name', attname, 'type', format_type(atttypid, atttypmod),
               'isRequired', (attnotnull OR typnotnull) AND NOT atthasdef AND attidentity = ''
                 AND typdefault IS NULL AND NOT EXISTS (SELECT 1 FROM pg_trigger
                   WHERE tgrelid = attrelid AND NOT tgisinternal AND tgtype & 7 = 7))
             FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
             WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum),
           'keys', ARRAY(
             SELECT (SELECT json_agg(attname) FROM pg_attribute WHERE attrelid = indrelid
               AND attnum = ANY ((indkey::int2[])[0:indnkeyatts - 1]))
             FROM pg_index WHERE indrelid = to_regclass($1) AND indisunique AND indisvalid
             AND indpred IS NULL AND indexprs IS NULL))::text`,
        [quoteTable(dialect, table)],
      );
      return tableFacts(facts);
    },
    // A lost connection may still hold the lock until the server notices.
    async lock(name) {
      await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`repute ${name}`]);
    },
    // Readers go on; inserts of other runs and programs wait.
    async lockTable(table) {
      await query(`LOCK TABLE ${quoteTable(dialect, table)} IN SHARE ROW EXCLUSIVE MODE`);
    },
  };
}

async function stagedRows(client: Client, stage: Stage | null): Promise<string> {
  await stage?.verify();
  const name = "pg_temp.repute_staging";
  await client.query("CREATE TEMPORARY TABLE repute_staging (cells jsonb) ON COMMIT DROP");
  const copy = `COPY ${name} FROM STDIN (${linesAsTheyAre})`;
  if (stage !== null && stage.count > 0) {
    const range = { end: stage.length - 1, highWaterMark: 1024 * 1024 };
    const { from } = await loadCopyStreams();
    await pipeline(createReadStream(stage.path, range), client.query(from(copy)));
  }
  // Detoasts a large row once instead of for each cell.
  return `(SELECT cells || '[]' AS cells FROM ${name} OFFSET 0)`;
}

/** Closes a connection. An unresponsive one is left to the system. */
async function disconnect(client: Client): Promise<void> {
  const ended = client.end().catch(() => undefined);
  await Promise.race([ended, delay(endTimeoutMs, undefined, { ref: false })]);
  // The socket must not keep the process alive.
  client.connection.stream.destroy();
}

/**
 * Limits set per transaction with SET LOCAL, because some poolers reject startup parameters.
 * Keepalives let the server detect a dead client and release its locks.
 */
const sessionLimits = {
  lock_timeout: "60s",
  statement_timeout: "10min",
  idle_in_transaction_session_timeout: "2min",
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
};

/** Timeout of pg for any answer; longer than `statement_timeout`. */
const answerTimeoutMs = 11 * 60_000;

const endTimeoutMs = 2_000;

/** Connects and logs in. @param url address with all parameters that pg understands */
async function connect(url: string, onWarning: (message: string) => void): Promise<Client> {
  const { Client } = await loadDriver("pg", () => import("pg"));
  await loadCopyStreams();
  const address = new URL(url);
  // Makes sslmode mean the same as in psql; pg is stricter by default and prints a warning.
  if (address.searchParams.has("sslmode")) address.searchParams.set("uselibpqcompat", "true");
  const client = new Client({
    connectionString: address.href,
    application_name: "repute",
    keepAlive: true,
    connectionTimeoutMillis: 30_000,
    query_timeout: answerTimeoutMs,
  });
  // Neither the address nor the environment has one.
  if (!client.password) {
    const password = () => readPasswordFile(client, process.env, onWarning);
    Object.assign(client, { password });
  }
  // A pending query fails on its own, and the next query fails after a loss in between.
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    // The connection may be open and waiting for a password.
    client.connection.stream.destroy();
    throw error;
  }
  return client;
}

/**
 * Finds a password in `PGPASSFILE` or `~/.pgpass`: that of the first line whose
 * `host:port:database:user` matches, with `*` as wildcard (PostgreSQL manual, libpq, The Password
 * File). Undefined if there is none.
 * @param onWarning called if the file is ignored because others may read it, like in libpq
 */
export async function readPasswordFile(
  entry: Pick<Client, "host" | "port" | "database" | "user">,
  environment: NodeJS.ProcessEnv,
  onWarning: (message: string) => void,
): Promise<string | undefined> {
  const path = environment["PGPASSFILE"] || join(environment["HOME"] || homedir(), ".pgpass");
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) return undefined;
  if (process.platform !== "win32" && (facts.mode & 0o077) !== 0) {
    onWarning(`ignored ${path} because other users can read it; run chmod 600 ${path}`);
    return undefined;
  }
  const text = await readFile(path, "utf8").catch(() => "");
  const { host, port, database = "", user = "" } = entry;
  // A Unix socket also matches `localhost`.
  const hosts = host.startsWith("/") ? [host, "localhost"] : [host];
  const patterns = [hosts, [String(port)], [database], [user]].map((names) => ["*"].concat(names));
  for (const line of text.split(/\r?\n/)) {
    const fields = fieldsOf(line);
    if (patterns.every((names, at) => names.includes(fields[at] ?? ""))) return fields[4];
  }
  return undefined;
}

/** The five fields of a line, unescaped; none if it isn't a valid entry. */
function fieldsOf(line: string): readonly string[] {
  const fields =
    /^(?!#)((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):(.*)$/.exec(
      line,
    );
  return fields?.slice(1).map((field) => field.replaceAll(/\\(.)/g, "$1")) ?? [];
}
