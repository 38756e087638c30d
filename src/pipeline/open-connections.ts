import { availableParallelism } from "node:os";
import type { Dispatcher } from "undici";
import type { RequestThread } from "../api/thread/request-thread.js";
import { isQuota } from "../core/options.js";
import type { EnrichSettings } from "./options.js";

/** From so many requests a second on, a thread of their own is worth its memory. */
const worthThread = 1_000;

/**
 * Whether threads are of use here: where there are two processors. Run from its TypeScript sources,
 * as by a test runner, the program cannot start one: Node.js reads the file that a thread begins with.
 */
const threadsOfUse = import.meta.url.endsWith(".js") && availableParallelism() > 1;

/** The connections of a run: one that may ask fast asks on a thread of its own. */
export async function openConnections(
  intelUrl: string,
  { concurrency, rate = [] }: Pick<EnrichSettings, "concurrency" | "rate">,
  threads = threadsOfUse,
): Promise<Dispatcher | RequestThread> {
  // A quota is spent as fast as the other rates let it.
  const perSecond = rate
    .filter((one) => !isQuota(one))
    .map((one) => (one.count / one.perMs) * 1000);
  const most = Math.min(...perSecond);
  if (threads && most >= worthThread) {
    const { RequestThread } = await import("../api/thread/request-thread.js");
    return new RequestThread(concurrency);
  }
  const { createDispatcher } = await import("../api/dispatcher.js");
  return createDispatcher(intelUrl, { connections: concurrency });
}
