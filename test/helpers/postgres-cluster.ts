import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./free-port.js";
import { ended } from "./shell.js";

const superuser = "postgres";
const password = "p:w@rd\\/'1";

/** The warning of a run whose command line has a cluster's address with its password. */
export const passwordWarned =
  "repute: warning: other users can see the password on the command line (ps): set PGPASSWORD or " +
  "REDISCLI_AUTH, use ~/.pgpass, or set the address in a variable or config file\n";

/** A PostgreSQL server in a temporary folder, on a free port of 127.0.0.1, with one superuser. */
export class PostgresCluster {
  readonly port: number;
  readonly password = password;
  readonly #folder: string;
  readonly #bin: string;
  readonly #identity: Identity;
  #server: ChildProcess | null = null;
  #ended: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, bin: string, identity: Identity, port: number) {
    this.#folder = folder;
    this.#bin = bin;
    this.#identity = identity;
    this.port = port;
  }

  /** Creates a cluster and starts its server; `stop` removes both. */
  static async start(): Promise<PostgresCluster> {
    const bin = findBinaries();
    const identity = unprivileged();
    const folder = await mkdtemp(join(tmpdir(), "repute-postgres-"));
    if (identity !== null) await chown(folder, identity.uid, identity.gid);
    const cluster = new PostgresCluster(folder, bin, identity, await freePort());
    try {
      await cluster.#initialise();
      await cluster.startServer();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Address of a database, for `-o` and for pg. */
  url(options: UrlOptions = {}): string {
    const { database = "postgres", user = superuser, parameters = {} } = options;
    const secret = options.password === undefined ? password : options.password;
    const login = secret === null ? user : `${user}:${encodeURIComponent(secret)}`;
    const search = new URLSearchParams(parameters).toString();
    return `postgres://${login}@127.0.0.1:${this.port}/${database}${search === "" ? "" : `?${search}`}`;
  }

  /** Runs a statement on a connection of its own. */
  async query<R extends pg.QueryResultRow = pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
    database = "postgres",
  ): Promise<R[]> {
    const client = this.client(database);
    await client.connect();
    try {
      return (await client.query<R>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  /** The rows of a table, their distinct keys and the last number; all the same if each is there once. */
  async counts(table: string): Promise<Record<"rows" | "keys" | "last", number>> {
    const [counts] = await this.query<Record<"rows" | "keys" | "last", number>>(
      `SELECT count(*)::int AS rows, count(DISTINCT (rep_run_id, rep_row))::int AS keys, max(rep_row)::int AS last FROM ${table}`,
    );
    return counts!;
  }

  /** A command that runs a statement, for other processes. */
  psql(statement: string): readonly string[] {
    return [join(this.#bin, "psql"), this.url(), "--no-psqlrc", "--command", statement];
  }

  /** A client that is not connected yet. */
  client(database = "postgres"): pg.Client {
    const client = new pg.Client({ connectionString: this.url({ database }) });
    // Tests kill servers; pending queries still get an error.
    client.on("error", () => undefined);
    return client;
  }

  /** Starts the server and waits until it accepts connections. After a crash it recovers first. */
  async startServer(): Promise<void> {
    // The processes of a crashed server take a moment to exit; until then it refuses to start.
    const deadline = Date.now() + 60_000;
    for (;;) {
      const log = this.#spawnServer();
      const fault = await this.#untilReady(deadline);
      if (fault === null) return;
      if (Date.now() >= deadline) throw new Error(`PostgreSQL does not start: ${fault}\n${log()}`);
      await this.#ended;
    }
  }

  /** Ends the server like a power cut: no shutdown, no warning. */
  async kill(): Promise<void> {
    this.#server?.kill("SIGKILL");
    await this.#ended;
    this.#server = null;
  }

  /** Stops the server and removes everything. */
  async stop(): Promise<void> {
    this.#server?.kill("SIGQUIT");
    await this.#ended;
    this.#server = null;
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #initialise(): Promise<void> {
    const secret = join(this.#folder, "secret");
    await writeFile(secret, `${password}\n`, { mode: 0o600 });
    if (this.#identity !== null) await chown(secret, this.#identity.uid, this.#identity.gid);
    const place = [`--pgdata=${join(this.#folder, "data")}`, `--pwfile=${secret}`];
    const options = ["--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync"];
    const args = [`--username=${superuser}`, ...place, ...options];
    const { code, stdout, stderr } = await ended(join(this.#bin, "initdb"), args, this.#process);
    if (code !== 0) throw new Error(`initdb ended with ${code}:\n${stdout}${stderr}`);
  }

  /** Returns what gives the end of its output. */
  #spawnServer(): () => string {
    const settings = {
      listen_addresses: "127.0.0.1",
      port: String(this.port),
      unix_socket_directories: "",
      // Killed processes lose nothing that the kernel has; only power cuts need fsync.
      fsync: "off",
      max_connections: "30",
      logging_collector: "off",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const args = ["-D", join(this.#folder, "data"), ...flags];
    const child = spawn(join(this.#bin, "postgres"), args, this.#process);
    this.#server = child;
    this.#ended = once(child, "close");
    // The server must not outlive the tests, however they end.
    const onExit = (): void => void child.kill("SIGKILL");
    process.once("exit", onExit);
    child.once("exit", () => process.off("exit", onExit));
    let log = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        log = (log + chunk).slice(-4096);
      });
    }
    return () => log;
  }

  /** Null once a connection succeeds; otherwise why it failed. */
  async #untilReady(deadline: number): Promise<string | null> {
    const server = this.#server;
    for (;;) {
      const fault = await this.query("SELECT 1").then(
        () => null,
        (error: unknown) => String(error),
      );
      if (fault === null) return null;
      if (server?.exitCode !== null || Date.now() >= deadline) return fault;
      await delay(50);
    }
  }

  /** Where and as whom its programs run. */
  get #process() {
    const env = { PATH: process.env["PATH"] ?? "", LC_ALL: "C" };
    return { cwd: this.#folder, env, ...this.#identity };
  }
}

export interface UrlOptions {
  readonly database?: string;
  readonly user?: string;
  /** Null omits it from the address. */
  readonly password?: string | null;
  readonly parameters?: Readonly<Record<string, string>>;
}

type Identity = { readonly uid: number; readonly gid: number } | null;

/** Newest version of Debian's packages, which install each version in a folder of its own. */
function findBinaries(): string {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root) : [];
  const [newest] = versions
    .filter((version) => existsSync(join(root, version, "bin", "initdb")))
    .sort((a, b) => Number(b) - Number(a));
  if (newest === undefined) {
    throw new Error(
      "these tests start a PostgreSQL server: install Debian's package postgresql (apt-get install postgresql)",
    );
  }
  return join(root, newest, "bin");
}

/** PostgreSQL refuses to run as root, so it runs as `postgres` or `nobody` then. */
function unprivileged(): Identity {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const user = users.find(([found]) => found === name);
    if (user) return { uid: Number(user[2]), gid: Number(user[3]) };
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody");
}
