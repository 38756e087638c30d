import { setTimeout as delay } from "node:timers/promises";
import type { Worker } from "bullmq";
import { Caller, type ClientOptions } from "../api/caller.js";
import { TransportError } from "../api/http/transport-error.js";
import { readAnswer, type ReadContext } from "../api/read-answer.js";
import { ServiceError } from "../api/status-fault.js";
import { rateLimitHintMs } from "../api/rate-limit-headers.js";
import type { Answer } from "../api/types.js";
import { type Again, isOverQuota, lookupEndpoints } from "../../core/finding.js";
import { type LookUp, type OpenQueue, openQueue, type QueueAddress } from "./lookup-queue.js";
import { rateText, SharedRate } from "./shared-rate.js";
import { raceAbort } from "../../core/abort.js";
import type { Rate } from "../../core/options.js";
import { faultText, redisRefusal } from "../../core/redis.js";

interface LookupWorkerOptions extends QueueAddress, ClientOptions {
  readonly apiKey: string | null;
  readonly timeoutMs: number;
  readonly concurrency: number;
  /** Rate of all workers of the service. */
  readonly rate: Rate;
  /** Finishes what is open when it aborts. */
  readonly signal: AbortSignal;
  /** Called every minute with the rate of all. */
  readonly onMinute: (rate: string) => void;
  readonly onNotice: (message: string) => void;
  readonly onWarning: (message: string) => void;
}

/**
 * A worker that is silent for so long has lost its lookups, and how often workers look for such, in
 * milliseconds: another one has them within 30 s. How often a lookup may lose its worker before it fails,
 * and the pause after a fault of the connection; BullMQ waits 15 s otherwise.
 */
const losses = {
  lockDuration: 12_000,
  stalledInterval: 6_000,
  maxStalledCount: 20,
  runRetryDelay: 1_000,
};

/** How long answers are kept for runs that ask again, in seconds. */
const keptSeconds = 60;

/**
 * Answers lookups of any run in the queue, at the rate of all workers of the service together, until the
 * signal aborts. Finishes open lookups then.
 *
 * @throws UsageError `driver_missing`, `invalid_credential`; FatalError `unauthorized`, `forbidden`,
 *   `redis_refused`
 */
export async function answerLookups(options: LookupWorkerOptions): Promise<void> {
  const { signal, timeoutMs, clock, onMinute } = options;
  const open = await openQueue(options);
  const { connection, queue } = open;
  const { redis, shown, lastFault } = connection;
  const sayAway = (): void =>
    options.onWarning(`${shown} is away (${lastFault()}); waiting for it`);
  redis.on("error", sayAway);
  if (redis.status !== "ready") sayAway();
  const rate = new SharedRate(open, options);
  /** Aborts when this worker's key is refused. */
  const refused = new AbortController();
  const stopped = AbortSignal.any([signal, refused.signal]);
  let worker: Worker | null = null;
  try {
    const lookUp = lookUpWith(options, rate, refused);
    await raceAbort(rate.begin(), stopped);
    worker = startWorker(open, rate, lookUp, options);
    for (let second = 1; ; second++) {
      await clock.sleep(1_000, stopped);
      // Nothing here waits for Redis, which may be away.
      void rate.refresh().catch(ignore);
      if (second % 60 !== 0) continue;
      onMinute(rateText(rate.now));
      void queue.clean(keptSeconds * 1000, 0, "completed").catch(ignore);
    }
  } catch (error) {
    if (!stopped.aborted) throw redisRefusal(shown, error as Error) ?? error;
  } finally {
    const late = delay(timeoutMs + 3_000, undefined, { ref: false });
    await Promise.race([worker?.close().catch(ignore), late]);
    connection.close();
  }
  refused.signal.throwIfAborted();
}

function startWorker(
  { connection: { shown }, work }: OpenQueue,
  rate: SharedRate,
  lookUp: LookUp,
  { concurrency, onNotice, onWarning }: LookupWorkerOptions,
): Worker {
  const worker = work(lookUp, {
    ...losses,
    concurrency,
    limiter: rate.window,
    removeOnComplete: { age: keptSeconds },
    removeOnFail: { count: 0 },
  });
  worker.on("error", (error: Error) => {
    const text = faultText(error);
    // A lost lock is another worker's gain.
    if (!/^(?:could not renew|Missing|Lock)/i.test(text)) onWarning(`${shown}: ${text}`);
  });
  worker.on("ready", () => {
    onNotice(`answering lookups at ${rateText(rate.now)}, ${concurrency} at once; Ctrl-C to stop`);
  });
  return worker;
}

/**
 * Makes requests.
 *
 * @param refused aborts when the key is refused, which ends the run that asks, too
 */
function lookUpWith(
  options: LookupWorkerOptions,
  rate: SharedRate,
  refused: AbortController,
): LookUp {
  const caller = new Caller("intel", options, options.apiKey ?? undefined);
  return async (path) => {
    const endpoint = lookupEndpoints.find((name) => path.startsWith(`/${name}/`)) ?? "query";
    const sentAt = rate.now;
    // Open lookups are finished, whatever stops the worker.
    const { signal } = new AbortController();
    const outcome = await caller.send(endpoint, path, signal).catch((error: unknown) => {
      if (error instanceof TransportError) return error;
      throw error;
    });
    const again = againAfter(outcome, caller.context, refused);
    // Another attempt must not find this answer.
    const isShared = again === null && !refused.signal.aborted;
    if (outcome instanceof TransportError) return { outcome, isShared };
    const isThrottled = again?.policy === "throttled" || isOverQuota({ again });
    const waitMs = isThrottled ? again!.afterMs : rateLimitHintMs(outcome.headers, options.clock);
    rate.isAccepted ||= !isThrottled;
    if (isThrottled || waitMs !== null) await rate.pause(waitMs).catch(ignore);
    // Without a time to wait, 503 says little about the rate.
    const isLimit = isThrottled && (outcome.status === 429 || waitMs !== null);
    if (isLimit) await rate.lower(sentAt).catch(ignore);
    return { outcome, isShared };
  };
}

function againAfter(
  outcome: Answer | TransportError,
  context: ReadContext,
  refused: AbortController,
): Again | null {
  if (outcome instanceof TransportError) return outcome.again;
  if (outcome.status === 200) return null;
  try {
    return readAnswer(outcome, context).again;
  } catch (error) {
    if (error instanceof ServiceError) return error.again;
    refused.abort(error);
    return null;
  }
}

const ignore = (): void => undefined;
