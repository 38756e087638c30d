import { isIP } from "node:net";
import type { RedisAddress } from "./redis-address.js";

/** Bounds of the pause before another attempt to connect, in milliseconds. */
const reconnect = { least: 50, most: 1_000 };

export function again(times: number): number {
  return Math.min(reconnect.most, reconnect.least * 2 ** Math.min(times, 10));
}

export function serverOf({ host, port, db, tls, sentinel, username, password }: RedisAddress) {
  const server =
    sentinel === null
      ? { host, port, ...(tls && { tls: isIP(host) === 0 ? { servername: host } : {} }) }
      : {
          // The others are learned from this one.
          sentinels: [{ host, port }],
          name: sentinel,
          sentinelRetryStrategy: again,
          ...(tls && { tls: {}, enableTLSForSentinelMode: true }),
        };
  return {
    ...server,
    db,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
  };
}
