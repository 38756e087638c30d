import { createHash } from "node:crypto";
import type * as Bullmq from "bullmq";
import type { Queue, QueueEvents } from "bullmq";
import { madeUpHeaders } from "../api/service-description.js";
import { TransportError, type TransportFault } from "../api/http/transport-error.js";
import { parseBase } from "../api/options.js";
import type { Answer } from "../api/types.js";
import { loadDriver } from "../../core/load-driver.js";
import type { Rate } from "../../core/options.js";
import { connectRedis, type RedisConnection } from "../../core/redis/connection.js";

/** The braces keep all keys in one slot of a cluster. */
const prefix = "{repute}";

/** Events kept in Redis: those of a few seconds. A run that misses some looks at its lookups. */
const mostEvents = 20_000;

/** How long answers are kept for runs that ask again, in seconds. */
export const keptSeconds = 60;

/** One request to make. Everything else about it is in the name of the queue. */
export interface LookupTask {
  /** Below the base address, encoded. */
  readonly path: string;
}

/** A worker's answer as JSON; `body` has a character for each byte. */
export type WorkerAnswer =
  | { readonly status: number; readonly headers: Answer["headers"]; readonly body: string }
  | { readonly fault: TransportFault; readonly message: string; readonly status: number | null };

type LookupQueue = Queue<LookupTask, WorkerAnswer>;

export function loadBullmq(): Promise<typeof Bullmq> {
  return loadDriver("bullmq", () => import("bullmq"), "a queue in Redis");
}

/** What queue, workers and events of a service have in common. */
export function queueOptions({ redis }: RedisConnection) {
  return { connection: redis, prefix, skipVersionCheck: true };
}

export interface QueueAddress {
  /** `redis://HOST[:PORT]/DB`. */
  readonly address: string;
  /** Its `REDISCLI_AUTH` is the password if the address has none. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Base address of the service. */
  readonly baseUrl: string;
}

export interface OpenQueue {
  readonly connection: RedisConnection;
  readonly queue: LookupQueue;
}

/**
 * Opens the queue of the lookups of one service.
 *
 * @throws UsageError `driver_missing`; FatalError `redis_refused`
 */
export async function openQueue(where: QueueAddress): Promise<OpenQueue> {
  const { Queue } = await loadBullmq();
  const connection = await connectRedis(where.address, where.environment);
  const queue: LookupQueue = new Queue(queueName(where.baseUrl), {
    ...queueOptions(connection),
    streams: { events: { maxLen: mostEvents } },
  });
  // The connection reports its own faults.
  queue.on("error", () => undefined);
  return { connection, queue };
}

/** The events of a queue from now on. */
export async function openEvents(
  connection: RedisConnection,
  queue: LookupQueue,
): Promise<QueueEvents> {
  const { QueueEvents } = await loadBullmq();
  const [newest] = await connection.redis.xrevrange(queue.toKey("events"), "+", "-", "COUNT", 1);
  const lastEventId = newest?.[0] ?? "0-0";
  const events = new QueueEvents(queue.name, { ...queueOptions(connection), lastEventId });
  events.on("error", () => undefined);
  return events;
}

/** All runs and workers that name the same Redis and the same service share a queue. */
function queueName(serviceUrl: string): string {
  const { host, href } = parseBase(serviceUrl);
  return `${host.replaceAll(":", "_")}-${digest(href.replace(/\/+$/, ""))}`;
}

/**
 * Id of an attempt, the same for the same attempt at the same lookup in any run.
 *
 * @param nth counted from 1
 */
export function jobIdOf(path: string, nth: number): string {
  return `${nth}.${digest(path)}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

const madeUp = Object.values(madeUpHeaders).join("|");
const read = new RegExp(`^(?:content-type|retry-after|(?:x-)?ratelimit.*|${madeUp})$`);

export function pack(outcome: Answer | TransportError): WorkerAnswer {
  if (outcome instanceof TransportError) {
    const { code: fault, message, httpStatus: status } = outcome;
    return { fault, message, status };
  }
  const { status, headers, body } = outcome;
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => read.test(name)));
  return { status, headers: kept, body: body.toString("latin1") };
}

export function unpack(result: WorkerAnswer): Answer | TransportError {
  if ("fault" in result) {
    const { fault, message, status: httpStatus } = result;
    return new TransportError(fault, message, { httpStatus });
  }
  return { ...result, body: Buffer.from(result.body, "latin1") };
}

/** So many attempts in so many milliseconds, as BullMQ counts them. */
export interface RateWindow {
  readonly max: number;
  readonly duration: number;
}

/** Short windows keep every second near the rate. */
const windowMs = 50;

/** The window of a rate: 50 ms, or as long as a single attempt needs. */
export function jobWindow({ count, perMs }: Rate): RateWindow {
  const max = Math.max(1, Math.floor((count * windowMs) / perMs));
  return { max, duration: Math.max(1, Math.round((max * perMs) / count)) };
}

/** Such as `100/s`, or `5/m` below one a second. */
export function formatRate({ count, perMs }: Rate): string {
  const perSecond = (1000 * count) / perMs;
  return perSecond >= 1 ? `${Math.round(perSecond)}/s` : `${Math.round(60 * perSecond)}/m`;
}

export function windowText({ max, duration }: RateWindow): string {
  return formatRate({ count: max, perMs: duration });
}
