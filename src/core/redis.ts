import { setTimeout as delay } from "node:timers/promises";
import { isIP } from "node:net";
import { z } from "zod";
import { FatalError } from "./errors.js";
import { isCertificateFault } from "./files/system-fault.js";
import { loadDriver } from "./load-driver.js";

/**
 * Times in milliseconds. Commands block for 10 s at most; a server that is silent for longer hangs or
 * was replaced.
 */
const times = { connect: 5_000, silence: 15_000, leastPause: 50, mostPause: 1_000 };

/**
 * Makes a connection for BullMQ, which repeats commands until the server is back. A server that can't be reached now may be later; only one that refuses this login or database
 * is an error.
 *
 * @param environment its `REDISCLI_AUTH` is the password if the address has none
 * @returns `lastFault`: why the connection was last lost
 * @throws UsageError `driver_missing`; FatalError `redis_refused`
 */
export async function connectRedis(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const { server, shown } = readRedisAddress(text, environment);
  const { Redis } = await loadDriver("ioredis", () => import("ioredis"), "a redis:// address");
  const redis = new Redis({
    ...server,
    protocol: 2,
    lazyConnect: true,
    connectionName: "repute",
    connectTimeout: times.connect,
    socketTimeout: times.silence,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) =>
      Math.min(times.mostPause, times.leastPause * 2 ** Math.min(attempt, 10)),
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

const defaultPort = 6379;

/**
 * Reads `redis://[USER:PASSWORD@]HOST[:PORT][/DB]`. `rediss:` connects with TLS.
 *
 * @param environment its `REDISCLI_AUTH`, which redis-cli reads too, is used if the address has no
 *   password
 * @throws Error that says what is wrong and never shows the address
 */
function readRedisAddress(
  text: string,
  environment: Readonly<Record<string, string | undefined>> = {},
) {
  if (!/^rediss?:/i.test(text)) throw new Error(shape);
  if (!URL.canParse(text)) throw new Error("is not a valid address");
  const url = new URL(text);
  const { hostname, protocol, username } = url;
  if (hostname === "") throw new Error(shape);
  const [, db] = /^\/?(\d{0,5})\/?$/.exec(url.pathname) ?? [];
  if (db === undefined) throw new Error("must end in the number of a database, such as /0");
  if (url.search !== "" || url.hash !== "") throw new Error("must not have parameters");
  // A literal IPv6 address is written in brackets, which only URLs use.
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  const password = decodeURIComponent(url.password) || environment["REDISCLI_AUTH"];
  const port = Number(url.port || defaultPort);
  return {
    server: {
      host,
      port,
      db: Number(db),
      ...(protocol === "rediss:" && { tls: isIP(host) === 0 ? { servername: host } : {} }),
      ...(username !== "" && { username: decodeURIComponent(username) }),
      ...(password && { password }),
    },
    /** The address without user name and password, for messages. */
    shown: `${protocol}//${hostname}:${port}/${Number(db)}`,
  };
}

const shape = "must be redis://HOST[:PORT]/DB, or rediss:// for TLS";

/**
 * The address of a Redis server, as an option.
 *
 * @param hint what to do about a value that is none
 */
export function redisAddress(hint?: string): z.ZodType<string, string> {
  // A config file may have a number here, which is explained as one.
  const text = z.union([z.string(), z.number()]).transform(String) as z.ZodType<string, string>;
  return text.superRefine((text, context) => {
    try {
      readRedisAddress(text);
    } catch (error) {
      const { message } = error as Error;
      context.addIssue({ code: "custom", message, ...(hint && { params: { hint } }) });
    }
  });
}
