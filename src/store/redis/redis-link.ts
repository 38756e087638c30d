import { setTimeout as delay } from "node:timers/promises";
import type { Redis } from "ioredis";
import { isCertificateFault } from "../../core/certificate-fault.js";
import { systemClock, type Clock } from "../../core/clock.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";
import { again, serverOf } from "./connect-options.js";
import { type RedisAddress, readRedisAddress } from "./redis-address.js";
import type { Script, ScriptServer, ScriptValue } from "./script.js";

export interface RedisLinkOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called once when the server stops answering, with the reason. */
  readonly onAway?: ((reason: string, address: string) => void) | undefined;
  /** Called once when Redis answers again, with the length of the outage in seconds. */
  readonly onBack?: ((seconds: number, address: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** Timeouts in milliseconds. */
const waits = { connect: 5_000, command: 3_000 };

/**
 * A connection to a Redis server that reconnects automatically: after a restart, a lost connection, a
 * server that hangs, and a failover that leaves a read-only replica behind the address.
 */
export class RedisLink implements ScriptServer {
  readonly address: RedisAddress;
  readonly #redis: Redis;
  readonly #options: RedisLinkOptions;
  readonly #clock: Clock;
  #isClosed = false;
  #lastError: Error = new Error("no connection yet");
  /** Since when the server doesn't answer, on the monotonic clock; null while it does. */
  #awaySince: number | null = null;

  private constructor(address: RedisAddress, redis: Redis, options: RedisLinkOptions) {
    this.address = address;
    this.#redis = redis;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    redis.on("error", (error: Error) => void (this.#lastError = error));
    redis.on("close", () => this.#listeners.forEach((listener) => listener()));
  }

  readonly #listeners = new Set<() => void>();

  /**
   * Connects. A server that can't be reached now may be later; only one that refuses this login or
   * database is an error.
   *
   * @throws UsageError `driver_missing`; FatalError `redis_refused`
   */
  static async open(text: string, options: RedisLinkOptions): Promise<RedisLink> {
    const address = readAddress(text, options.environment);
    const { Redis } = await loadDriver("ioredis", () => import("ioredis"), "a redis:// address");
    const redis = new Redis({
      ...serverOf(address),
      protocol: 2,
      lazyConnect: true,
      connectionName: "repute",
      connectTimeout: waits.connect,
      commandTimeout: waits.command,
      // A command repeated behind our back could be executed twice.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      enableAutoPipelining: true,
      retryStrategy: again,
      reconnectOnError: (error) => error.message.startsWith("READONLY"),
    });
    const link = new RedisLink(address, redis, options);
    try {
      const fault = await link.#connect();
      // ioredis reports a refused login or database only here.
      if (isRefusal(link.#lastError)) throw link.#refused(link.#lastError);
      if (fault !== undefined) link.#noteAway(fault);
      else await link.#check();
      return link;
    } catch (error) {
      link.close();
      throw error;
    }
  }

  /** Connects, or returns why not. A client of Sentinels tries without end. */
  async #connect(): Promise<Error | undefined> {
    const late = delay(2 * waits.connect, new Error("no Sentinel answers"), { ref: false });
    const connected = this.#redis.connect().catch((error: Error) => error);
    return (await Promise.race([connected, late])) ?? undefined;
  }

  /** Whether commands are likely to be answered now. */
  get isReady(): boolean {
    return this.#redis.status === "ready";
  }

  get client(): Redis {
    return this.#redis;
  }

  onLost(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async run(
    { sha, text }: Script,
    keys: readonly string[],
    args: readonly ScriptValue[],
  ): Promise<unknown> {
    return this.ask(async (redis) => {
      try {
        return await redis.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
        return redis.eval(text, keys.length, ...keys, ...args);
      }
    });
  }

  /** Calls the server, and notes whether it answers. */
  async ask<T>(call: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      const answer = await call(this.#redis);
      this.#noteBack();
      return answer;
    } catch (error) {
      this.#noteAway(error as Error);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#redis.disconnect();
  }

  async #check(): Promise<void> {
    try {
      // Of different slots, so that any cluster refuses them.
      await this.#redis.exists("repute:a", "repute:b");
    } catch (error) {
      if (isRefusal(error as Error)) throw this.#refused(error as Error);
      this.#noteAway(error as Error);
    }
  }

  #refused(error: Error): FatalError {
    return new FatalError("redis_refused", `${this.address.shown}: ${faultText(error)}`, {
      cause: error,
      hint: remedyOf(error),
    });
  }

  #noteAway(error: Error): void {
    if (this.#isClosed) return;
    // A command that times out leaves the connection in an unknown state.
    if (error.message === "Command timed out" && this.isReady) this.#redis.disconnect(true);
    if (this.#awaySince !== null) return;
    this.#awaySince = this.#clock.monotonic();
    // Offline commands fail for the reason that the connection did.
    const offline = /isn't writeable|Connection is closed|max retries/i.test(error.message);
    this.#options.onAway?.(faultText(offline ? this.#lastError : error), this.address.shown);
  }

  #noteBack(): void {
    if (this.#awaySince === null) return;
    const seconds = Math.round((this.#clock.monotonic() - this.#awaySince) / 1000);
    this.#awaySince = null;
    this.#options.onBack?.(seconds, this.address.shown);
  }
}

function readAddress(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): RedisAddress {
  try {
    return readRedisAddress(text, environment);
  } catch (error) {
    throw new UsageError("invalid_setting", `the address of Redis ${(error as Error).message}`);
  }
}

/** Whether waiting can't help: login, database, permission, certificate, or something other than Redis. */
function isRefusal({ message, name, code }: NodeJS.ErrnoException): boolean {
  return (
    isCertificateFault(code) ||
    /^(?:WRONGPASS|NOAUTH|NOPERM|MOVED|CROSSSLOT|DENIED)\b/.test(message) ||
    /invalid DB index|DB index is out of range|without any password|invalid (?:username-)?password/i.test(
      message,
    ) ||
    name === "ParserError"
  );
}

function remedyOf({ code }: NodeJS.ErrnoException): string {
  return isCertificateFault(code)
    ? "check host, clock and certificate; NODE_EXTRA_CA_CERTS names the file of a private authority"
    : "check the address, the number of the database, and user name and password (or REDISCLI_AUTH); clusters are not supported";
}

function faultText(error: Error): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (message === "Command timed out") return "no answer within 3 s";
  return (code !== undefined && !message.includes(code) ? `${code} ${message}` : message)
    .replaceAll(/[\r\n]+/g, " ")
    .trim();
}
