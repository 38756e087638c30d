import { z } from "zod";

/** Ports of a Redis server and of a Sentinel whose address names none. */
const defaultPorts = { server: 6379, sentinel: 26379 };

/**
 * A Redis server and database, read from `redis://[USER:PASSWORD@]HOST[:PORT][/DB]`. With
 * `?sentinel=NAME`, host and port are those of a Sentinel, which knows the primary of that name.
 */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly tls: boolean;
  /** Name of the primary that a Sentinel watches; null for a server. */
  readonly sentinel: string | null;
  readonly username: string | null;
  readonly password: string | null;
  /** The address without user name and password, for messages. */
  readonly shown: string;
}

/**
 * Reads an address. `rediss:` connects with TLS.
 *
 * @param environment its `REDISCLI_AUTH`, which redis-cli reads too, is used if the address has no
 *   password
 * @throws Error that says what is wrong and never shows the address
 */
export function readRedisAddress(
  text: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): RedisAddress {
  if (!/^rediss?:/i.test(text)) throw new Error(shape);
  if (!URL.canParse(text)) throw new Error("is not a valid address");
  const url = new URL(text);
  if (url.hostname === "") throw new Error(shape);
  const [, db] = /^\/?(\d{0,5})\/?$/.exec(url.pathname) ?? [];
  if (db === undefined) throw new Error("must end in the number of a database, such as /0");
  const { sentinel = null, ...others } = Object.fromEntries(url.searchParams);
  if (Object.keys(others).length > 0 || url.hash !== "" || sentinel === "") {
    throw new Error("must not have parameters other than sentinel=NAME");
  }
  const { hostname, protocol, username, password } = url;
  const tls = protocol === "rediss:";
  const standard = sentinel === null ? defaultPorts.server : defaultPorts.sentinel;
  const port = url.port === "" ? standard : Number(url.port);
  const name = sentinel === null ? "" : `?sentinel=${sentinel}`;
  return {
    // A literal IPv6 address is written in brackets, which only URLs use.
    host: hostname.replaceAll(/^\[|\]$/g, ""),
    port,
    db: Number(db),
    tls,
    sentinel,
    username: username === "" ? null : decodeURIComponent(username),
    password: decodeURIComponent(password) || environment["REDISCLI_AUTH"] || null,
    shown: `${protocol}//${hostname}:${port}/${Number(db)}${name}`,
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
