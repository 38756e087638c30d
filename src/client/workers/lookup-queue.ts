import { createHash } from "node:crypto";
import type { Queue, QueueEvents, Worker, WorkerOptions } from "bullmq";
import { madeUpHeaders } from "../api/service-description.js";
import { TransportError, type TransportFault } from "../api/http/transport-error.js";
import { parseBase } from "../api/options.js";
import type { Answer } from "../api/types.js";
import { loadDriver } from "../../core/load-driver.js";
import { connectRedis } from "../../core/redis.js";

/** The braces keep all keys in one slot of a cluster. */
const prefix = "{repute}";

/** Events kept in Redis: those of a few seconds. A run that misses some looks at its lookups. */
const mostEvents = 20_000;

/** A worker's answer as JSON; `body` has a character for each byte. */
export type WorkerAnswer =
  | { readonly status: number; readonly headers: Answer["headers"]; readonly body: string }
  | { readonly fault: TransportFault; readonly message: string; readonly status: number | null };

/** Makes the request of a lookup, on a worker. */
export type LookUp = (path: string) => Promise<{
  readonly outcome: Answer | TransportError;
  /** Whether equal lookups may have the same answer for a while. */
  readonly isShared: boolean;
}>;

export type OpenQueue = Awaited<ReturnType<typeof openQueue>>;

export interface QueueAddress {
  /** `redis://HOST[:PORT]/DB`. */
  readonly address: string;
  /** Its `REDISCLI_AUTH` is the password if the address has none. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly baseUrl: string;
}

/**
 * Opens the queue of the lookups of a service: that of all who name the same Redis and the same service.
 *
 * @throws UsageError `driver_missing`; FatalError `redis_refused`
 */
export async function openQueue(where: QueueAddress) {
  const bullmq = await loadDriver("bullmq", () => import("bullmq"), "a queue in Redis");
  const connection = await connectRedis(where.address, where.environment);
  const { redis } = connection;
  const { host, href } = parseBase(where.baseUrl);
  const digest = createHash("sha256").update(href.replace(/\/+$/, "")).digest("base64url");
  const common = { connection: redis, prefix, skipVersionCheck: true };
  const name = `${host.replaceAll(":", "_")}-${digest.slice(0, 22)}`;
  const streams = { events: { maxLen: mostEvents } };
  const queue: Queue<null, WorkerAnswer> = new bullmq.Queue(name, { ...common, streams });
  // The connection reports its own faults.
  queue.on("error", () => undefined);
  /** The events from now on. */
  const listen = async (): Promise<QueueEvents> => {
    const [newest] = await redis.xrevrange(queue.toKey("events"), "+", "-", "COUNT", 1);
    const lastEventId = newest?.[0] ?? "0-0";
    const events = new bullmq.QueueEvents(name, { ...common, lastEventId });
    events.on("error", () => undefined);
    return events;
  };
  const work = (lookUp: LookUp, options: Omit<WorkerOptions, "connection">): Worker =>
    new bullmq.Worker<null, WorkerAnswer>(
      name,
      async ({ id = "", opts }) => {
        const { outcome, isShared } = await lookUp(id.slice(id.indexOf("/")));
        if (!isShared) opts.removeOnComplete = true;
        return pack(outcome);
      },
      { ...common, ...options },
    );
  return { connection, queue, listen, work };
}

/** Id of the nth attempt at a lookup, the same in any run. It is all that a worker needs to know. */
export function jobIdOf(path: string, nth: number): string {
  return `${nth}${path}`;
}

const madeUp = Object.values(madeUpHeaders).join("|");
const read = new RegExp(`^(?:content-type|retry-after|(?:x-)?ratelimit.*|${madeUp})$`);

function pack(outcome: Answer | TransportError): WorkerAnswer {
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
