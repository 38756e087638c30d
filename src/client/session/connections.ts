import { availableParallelism } from "node:os";
import type { ClientOptions } from "../api/caller.js";
import { isQuota, type Rate } from "../../core/options.js";
import type { Pace } from "../pace/pace.js";

/** Requests per second from which a separate request thread is worth its memory. */
const threadRate = 1_000;

/** Requests per second from which some may wait on that thread: they leave 3 ms late at most. */
const queueRate = 10_000;

/**
 * Threads need two processors. Node.js itself loads a thread's first file, so a thread cannot start
 * from TypeScript sources (under a test runner).
 */
const threadsHelp = import.meta.url.endsWith(".js") && availableParallelism() > 1;

/**
 * Opens connections. At high rates, requests are made on a separate thread.
 *
 * @param pace leaves the spacing of requests to that thread
 * @param threads whether they may be. @default if this machine has two processors
 */
export async function openConnections(
  url: string,
  { concurrency, rate }: { readonly concurrency: number; readonly rate: readonly Rate[] },
  pace: Pick<Pace, "leaveSpacing">,
  threads = threadsHelp,
): Promise<ClientOptions["dispatcher"] & { destroy(): Promise<void> }> {
  if (threads && perSecond(rate) >= threadRate) {
    const { requestThread } = await import("../api/thread/request-thread.js");
    return requestThread(concurrency, pace.leaveSpacing());
  }
  const { createDispatcher } = await import("../api/http/dispatcher.js");
  return createDispatcher(url, { connections: concurrency });
}

/**
 * How many requests may wait on the thread for a free connection, so that a connection never waits for
 * this thread. They have passed the pace and count as sent, which quotas and budgets forbid.
 */
export function queueOf(rates: readonly Rate[], maxRequests?: number): number {
  const isCounted = rates.some(isQuota) || maxRequests !== undefined;
  return threadsHelp && !isCounted && perSecond(rates) >= queueRate ? 96 : 0;
}

/** Requests per second that the rates allow. Quotas limit the total, not the speed. */
function perSecond(rates: readonly Rate[]): number {
  const each = rates.filter((one) => !isQuota(one)).map((one) => (one.count / one.perMs) * 1000);
  return Math.min(...each);
}
