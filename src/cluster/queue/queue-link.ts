import type * as Bullmq from "bullmq";
import type { Redis } from "ioredis";
import { loadDriver } from "../../core/load-driver.js";
import { again, serverOf } from "../../store/redis/connect-options.js";
import { RedisLink } from "../../store/redis/redis-link.js";

export interface QueueLinkOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onWarning: (message: string) => void;
}

/** A connection for BullMQ, which repeats commands until the server is back. */
export interface QueueLink {
  readonly redis: Redis;
  close(): void;
}

/** @throws UsageError `driver_missing`; FatalError `redis_refused` */
export async function openQueueLink(
  address: string,
  { environment, onWarning }: QueueLinkOptions,
): Promise<QueueLink> {
  await loadBullmq();
  // Tells a refused login from a server that is away.
  const probe = await RedisLink.open(address, { environment });
  probe.close();
  const { shown } = probe.address;
  const { Redis } = await loadDriver("ioredis", () => import("ioredis"), "a redis:// address");
  const redis = new Redis({
    ...serverOf(probe.address),
    protocol: 2,
    connectionName: "repute",
    maxRetriesPerRequest: null,
    retryStrategy: again,
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  let isAway = false;
  redis.on("error", (error: Error) => {
    if (!isAway) onWarning(`${shown} is away (${error.message}); the queue waits for it`);
    isAway = true;
  });
  redis.on("ready", () => {
    if (isAway) onWarning(`${shown} is back`);
    isAway = false;
  });
  const clients = [redis];
  const duplicate = redis.duplicate.bind(redis);
  // BullMQ does not end the connections that it adds while the server is away.
  redis.duplicate = (override) => {
    const client = duplicate(override);
    clients.push(client);
    return client;
  };
  return { redis, close: () => clients.forEach((client) => client.disconnect()) };
}

export function loadBullmq(): Promise<typeof Bullmq> {
  return loadDriver("bullmq", () => import("bullmq"), "a queue in Redis");
}
