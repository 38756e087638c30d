import type { Redis } from "ioredis";
import { setTimeout as delay } from "node:timers/promises";
import { isIP } from "node:net";
import { FatalError, UsageError } from "../errors.js";
import { isCertificateFault } from "../files/system-fault.js";
import { loadDriver } from "../load-driver.js";
import { type RedisAddress, readRedisAddress } from "./address.js";

/**
 * Times in milliseconds. Commands block for 10 s at most; a server that is silent for longer hangs or
 * was replaced.
 */
const times = { connect: 5_000, silence: 15_000, leastPause: 50, mostPause: 1_000 };

/** A connection for BullMQ, which repeats commands until the server is back. */
export interface RedisConnection {
  readonly redis: Redis;
  readonly shown: string;
  /** Why the connection was last lost. */
  readonly lastFault: () => string;
  close(): void;
}

/**
 * Connects. A server that can't be reached now may be later; only one that refuses this login or database
 * is an error.
 *
 * @param environment its `REDISCLI_AUTH` is the password if the address has none
 * @throws UsageError `invalid_setting`, `driver_missing`; FatalError `redis_refused`
 */
export async function connectRedis(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<RedisConnection> {
  const address = addressOf(text, environment);
  const { Redis } = await loadDriver("ioredis", () => import("ioredis"), "a redis:// address");
  const redis = new Redis({
    ...serverOf(address),
    protocol: 2,
    lazyConnect: true,
    connectionName: "repute",
    connectTimeout: times.connect,
    socketTimeout: times.silence,
    maxRetriesPerRequest: null,
    retryStrategy: pauseBefore,
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  let fault: Error = new Error("no connection yet");
  redis.on("error", (error: Error) => void (fault = error));
  const clients = [redis];
  const duplicate = redis.duplicate.bind(redis);
  // BullMQ does not end the connections that it adds while the server is away.
  redis.duplicate = (override) => {
    const client = duplicate(override);
    clients.push(client);
    return client;
  };
  const close = (): void => clients.forEach((client) => client.disconnect());
  const { shown } = address;
  const late = delay(times.connect, undefined, { ref: false });
  await Promise.race([redis.connect().catch(() => undefined), late]);
  // ioredis reports a refused login or database only here.
  const refusal = redisRefusal(shown, fault);
  if (refusal !== null) {
    close();
    throw refusal;
  }
  return { redis, shown, lastFault: () => faultText(fault), close };
}

/**
 * The error of a server that refuses what a run or worker needs: login, database, permission,
 * certificate, a replica, not a Redis. Null if waiting may help.
 */
export function redisRefusal(shown: string, error: NodeJS.ErrnoException): FatalError | null {
  const text = faultText(error);
  const isRefusal =
    isCertificateFault(error.code) ||
    /^(?:WRONGPASS|NOAUTH|NOPERM|MOVED|CLUSTERDOWN|DENIED|READONLY)\b/.test(text) ||
    /invalid DB index|DB index is out of range|without any password|invalid (?:username-)?password|unknown command/i.test(
      text,
    ) ||
    error.name === "ParserError";
  if (!isRefusal) return null;
  const options = { cause: error, hint: remedyOf(text, error.code) };
  return new FatalError("redis_refused", `${shown}: ${text}`, options);
}

/** The message of an error, without the script that raised it. */
export function faultText({ code, message }: NodeJS.ErrnoException): string {
  return (code !== undefined && !message.includes(code) ? `${code} ${message}` : message)
    .replaceAll(/[\r\n]+/g, " ")
    .replace(/^ERR Error running script .*@user_script: ?\d+: -?/, "")
    .replace(/ script: \w+, on @?user_script:\d+\.?/, "")
    .trim();
}

function remedyOf(text: string, code: string | undefined): string {
  if (isCertificateFault(code)) {
    return "check host, clock and certificate; NODE_EXTRA_CA_CERTS names the file of a private authority";
  }
  if (text.startsWith("READONLY")) return "this server is a replica: name the primary";
  return "check the address, the number of the database, and user name and password (or REDISCLI_AUTH); clusters are not supported";
}

function addressOf(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): RedisAddress {
  try {
    return readRedisAddress(text, environment);
  } catch (error) {
    throw new UsageError("invalid_setting", `the address of Redis ${(error as Error).message}`);
  }
}

function pauseBefore(attempt: number): number {
  return Math.min(times.mostPause, times.leastPause * 2 ** Math.min(attempt, 10));
}

function serverOf({ host, port, db, tls, sentinel, username, password }: RedisAddress) {
  const server =
    sentinel === null
      ? { host, port, ...(tls && { tls: isIP(host) === 0 ? { servername: host } : {} }) }
      : {
          // The others are learned from this one.
          sentinels: [{ host, port }],
          name: sentinel,
          sentinelRetryStrategy: pauseBefore,
          ...(tls && { tls: {}, enableTLSForSentinelMode: true }),
        };
  return {
    ...server,
    db,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
  };
}
