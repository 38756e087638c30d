import { availableParallelism } from "node:os";
import type { Dispatcher } from "undici";
import type { RequestThread } from "../../api/thread/request-thread.js";
import { isQuota, type Rate } from "../../core/options.js";
import { lookupEndpoints } from "../../core/finding.js";
import { type EndpointRates, ratesOf } from "../../lookup/options.js";
import type { EnrichSettings } from "../options.js";

/** Requests a second from which a thread of their own is worth its memory. */
const worthThread = 1_000;

/**
 * Requests a second from which requests may queue on that thread. They have left the pace by then: at
 * this rate a full queue is 10 ms early.
 */
const worthQueue = 10_000;

/** Most requests that queue on the thread. */
const longestQueue = 96;

/**
 * Whether threads are of use: with two processors. A thread cannot start from TypeScript sources, as
 * under a test runner: Node.js itself reads its first file.
 */
const threadsOfUse = import.meta.url.endsWith(".js") && availableParallelism() > 1;

type Settings = Pick<EnrichSettings, "concurrency" | "rate" | "maxRequests"> & EndpointRates;

/** The connections of a run. */
export interface Connections {
  readonly dispatcher: Dispatcher | RequestThread;
  /** How many requests may queue for one of them. */
  readonly ahead: number;
}

/** Opens the connections of a run: one with a high rate makes its requests on a thread of its own. */
export async function openConnections(
  intelUrl: string,
  settings: Settings,
  threads = threadsOfUse,
): Promise<Connections> {
  const { concurrency, rate = [] } = settings;
  if (threads && perSecond(rate) >= worthThread) {
    const { RequestThread } = await import("../../api/thread/request-thread.js");
    const ahead = mayQueue(settings) ? longestQueue : 0;
    return { dispatcher: new RequestThread(concurrency), ahead };
  }
  const { createDispatcher } = await import("../../api/http/dispatcher.js");
  const dispatcher = createDispatcher(intelUrl, { connections: concurrency });
  return { dispatcher, ahead: 0 };
}

/** A quota or a budget is spent when a request leaves, so nothing queues where there is one. */
function mayQueue(settings: Settings): boolean {
  const own = lookupEndpoints.map((endpoint) => ratesOf(endpoint, settings));
  const all = [settings.rate ?? [], ...own];
  if (all.flat().some(isQuota) || settings.maxRequests !== undefined) return false;
  return all.every((rates) => perSecond(rates) >= worthQueue);
}

/** What rates allow; a quota is spent as fast as the others allow. */
function perSecond(rates: readonly Rate[]): number {
  const each = rates.filter((one) => !isQuota(one)).map((one) => (one.count / one.perMs) * 1000);
  return Math.min(...each);
}
