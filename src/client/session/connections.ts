import { availableParallelism } from "node:os";
import type { ClientOptions } from "../api/caller.js";
import { isQuota, type Rate } from "../../core/options.js";
import type { Pace } from "../pace/pace.js";

/** Requests per second from which a separate request thread is worth its memory. */
const threadRate = 1_000;

/**
 * Requests per second from which requests may queue on that thread. Queued requests have already
 * passed the pace; at this rate, a full queue leaves 10 ms early.
 */
const queueRate = 10_000;

/** Maximum number of requests queued on the thread. */
const maxQueue = 96;

/**
 * Threads need two processors. Node.js itself loads a thread's first file, so a thread cannot start
 * from TypeScript sources (under a test runner).
 */
const threadsHelp = import.meta.url.endsWith(".js") && availableParallelism() > 1;

interface Settings {
  readonly concurrency: number;
  readonly rate?: readonly Rate[] | undefined;
}

export interface Connections {
  readonly dispatcher: ClientOptions["dispatcher"] & { destroy(): Promise<void> };
  /** Number of requests that may queue for a connection, where `mayQueue` allows it. */
  readonly queue: number;
}

/**
 * Opens connections. At high rates, requests are made on a separate thread.
 *
 * @param pace leaves the spacing of requests to that thread
 * @param threads whether they may be. @default if this machine has two processors
 */
export async function openConnections(
  url: string,
  settings: Settings,
  pace: Pick<Pace, "leaveSpacing">,
  threads = threadsHelp,
): Promise<Connections> {
  const { concurrency, rate = [] } = settings;
  if (threads && perSecond(rate) >= threadRate) {
    const { requestThread } = await import("../api/thread/request-thread.js");
    return { dispatcher: requestThread(concurrency, pace.leaveSpacing()), queue: maxQueue };
  }
  const { createDispatcher } = await import("../api/http/dispatcher.js");
  return { dispatcher: createDispatcher(url, { connections: concurrency }), queue: 0 };
}

/** Quotas and budgets are charged when a request leaves, so they forbid a queue. */
export function mayQueue(rate: readonly Rate[] = [], maxRequests?: number): boolean {
  return !rate.some(isQuota) && maxRequests === undefined && perSecond(rate) >= queueRate;
}

/** Requests per second that the rates allow. Quotas limit the total, not the speed. */
function perSecond(rates: readonly Rate[]): number {
  const each = rates.filter((one) => !isQuota(one)).map((one) => (one.count / one.perMs) * 1000);
  return Math.min(...each);
}

/** Parts that are opened when they are first needed. */
export class OpenedOnce {
  readonly #parts = new Map<string, Promise<unknown>>();

  /** The part of this name. One that failed to open is tried again with the next call. */
  open<T>(name: string, open: () => Promise<T>): Promise<T> {
    const known = this.#parts.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const opening = open();
    this.#parts.set(name, opening);
    opening.catch(() => this.#parts.delete(name));
    return opening;
  }

  /** Resolves once nothing is being opened. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#parts.values());
  }
}
