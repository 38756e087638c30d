import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort } from "./free-port.js";

export interface RedisServerOptions {
  readonly password?: string;
  /** More settings, as in redis.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Paths of the files that it needs for TLS. By default it speaks without. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca: string };
}

/** A Redis server in a temporary folder, on a free port of 127.0.0.1. */
export class RedisServer {
  readonly port: number;
  readonly #folder: string;
  readonly #options: RedisServerOptions;
  #server: ChildProcess | null = null;

  private constructor(folder: string, port: number, options: RedisServerOptions) {
    this.#folder = folder;
    this.port = port;
    this.#options = options;
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    if (spawnSync("redis-server", ["--version"]).status !== 0) {
      throw new Error(
        "these tests start a Redis server: install Debian's package redis-server (apt-get install redis-server)",
      );
    }
    const folder = await mkdtemp(join(tmpdir(), "repute-redis-"));
    const server = new RedisServer(folder, await freePort(), options);
    await server.startServer();
    return server;
  }

  /** Address of a database, without the password. */
  url(db = 0): string {
    const protocol = this.#options.tls === undefined ? "redis" : "rediss";
    return `${protocol}://127.0.0.1:${this.port}/${db}`;
  }

  /** A client that the caller closes. */
  client(db = 0): Redis {
    const { password, tls } = this.#options;
    const client = new Redis({
      port: this.port,
      host: "127.0.0.1",
      db,
      ...(password !== undefined && { password }),
      ...(tls !== undefined && { tls: { ca: readFileSync(tls.ca) } }),
    });
    client.on("error", () => undefined);
    return client;
  }

  /** Runs a command on a connection of its own. */
  async command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const client = this.client();
    try {
      return await client.call(name, ...args.map(String));
    } finally {
      client.disconnect();
    }
  }

  /** Starts the server and waits until it answers. Data written by an earlier one is loaded. */
  async startServer(): Promise<void> {
    const { password, settings = {}, tls } = this.#options;
    const port = String(this.port);
    const all = {
      ...(tls === undefined
        ? { port }
        : {
            port: "0",
            "tls-port": port,
            "tls-key-file": tls.key,
            "tls-cert-file": tls.cert,
            "tls-ca-cert-file": tls.ca,
            "tls-auth-clients": "no",
          }),
      bind: "127.0.0.1",
      dir: this.#folder,
      save: "",
      appendonly: "yes",
      appendfsync: "always",
      "maxmemory-policy": "noeviction",
      ...(password === undefined ? {} : { requirepass: password }),
      ...settings,
    };
    const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn("redis-server", args, { stdio: "ignore" });
    this.#server = child;
    // The server must not outlive the tests, however they end.
    const onExit = (): void => void child.kill("SIGKILL");
    process.once("exit", onExit);
    child.once("exit", () => process.off("exit", onExit));
    for (let tries = 0; ; tries++) {
      const answer = await this.command("PING").catch((error: Error) => error);
      if (answer === "PONG") return;
      if (tries > 200) throw new Error(`Redis does not start: ${String(answer)}`);
      await delay(50);
    }
  }

  /** Ends the server like a power cut. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const ended = once(server, "close");
    // A stopped process dies only when it continues.
    server.kill("SIGCONT");
    server.kill("SIGKILL");
    await ended;
  }

  /** Lets the server hang, or go on. */
  pause(paused: boolean): void {
    this.#server?.kill(paused ? "SIGSTOP" : "SIGCONT");
  }

  /** Stops the server and removes everything. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
