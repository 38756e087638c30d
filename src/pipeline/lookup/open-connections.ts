import { availableParallelism } from "node:os";
import type { Dispatcher } from "undici";
import type { RequestThread, RequestThreadOptions } from "../../api/thread/request-thread.js";
import { isQuota, type Rate } from "../../core/options.js";
import { Foresight } from "../../lookup/pace/foresight.js";
import type { EnrichSettings } from "../options.js";

/** From so many requests a second on, a thread of their own is worth its memory. */
const worthThread = 1_000;

/**
 * From so many requests a second on, requests wait on that thread for a connection. They have left the
 * pace by then: at this rate as many as wait are 10 ms early.
 */
const worthForesight = 10_000;

/** So many wait there at most. */
const mostAhead = 96;

/**
 * Whether threads are of use here: where there are two processors. Run from its TypeScript sources,
 * as by a test runner, the program cannot start one: Node.js reads the file that a thread begins with.
 */
const threadsOfUse = import.meta.url.endsWith(".js") && availableParallelism() > 1;

type Settings = Pick<
  EnrichSettings,
  "concurrency" | "rate" | "rateQuery" | "rateQuickCheck" | "maxRequests"
>;

export interface ConnectionOptions {
  /** Folder in which a thread keeps answers from a kill; null for a run that cannot be resumed. */
  readonly arrivals?: string | null;
  /** Told when it cannot; nothing is sent from then on. */
  readonly onLogFault?: RequestThreadOptions["onLogFault"];
  readonly threads?: boolean;
}

/** The connections of a run. */
export interface Connections {
  readonly dispatcher: Dispatcher | RequestThread;
  /** How many requests may wait for one of them. */
  readonly foresight: Foresight;
}

/**
 * Starts the thread of a run that will have one, so that it is there when its connections are opened.
 */
export async function prepareConnections(settings: Pick<Settings, "rate">): Promise<void> {
  if (!threadsOfUse || !asksFast(settings)) return;
  const { startSpareThread } = await import("../../api/thread/start-thread.js");
  startSpareThread();
}

/**
 * Opens the connections of a run: one that may ask fast asks on a thread of its own.
 */
export async function openConnections(
  intelUrl: string,
  settings: Settings,
  { arrivals = null, onLogFault, threads = threadsOfUse }: ConnectionOptions = {},
): Promise<Connections> {
  const { concurrency } = settings;
  if (threads && asksFast(settings)) {
    const { RequestThread } = await import("../../api/thread/request-thread.js");
    const foresight = new Foresight(mayLookAhead(settings) ? mostAhead : 0);
    // Without it no more is on its way than is open.
    const isLogged = arrivals !== null && foresight.ceiling > 0;
    const dispatcher = new RequestThread(concurrency, {
      arrivals: isLogged ? { folder: arrivals, answers: concurrency + mostAhead } : undefined,
      onLogFault,
      onBroken: () => foresight.end(),
    });
    return { dispatcher, foresight };
  }
  const { createDispatcher } = await import("../../api/http/dispatcher.js");
  const dispatcher = createDispatcher(intelUrl, { connections: concurrency });
  return { dispatcher, foresight: new Foresight(0) };
}

function asksFast({ rate = [] }: Pick<Settings, "rate">): boolean {
  return perSecond(rate) >= worthThread;
}

/** Whatever is counted is spent when a request leaves: where something is, none leaves ahead. */
function mayLookAhead({
  rate = [],
  rateQuery = [],
  rateQuickCheck = [],
  maxRequests,
}: Settings): boolean {
  const counted = [...rate, ...rateQuery, ...rateQuickCheck].some(isQuota);
  if (counted || maxRequests !== undefined) return false;
  return [rate, rateQuery, rateQuickCheck].every((rates) => perSecond(rates) >= worthForesight);
}

/** What rates let pass; a quota is spent as fast as the others let it. */
function perSecond(rates: readonly Rate[]): number {
  const each = rates.filter((one) => !isQuota(one)).map((one) => (one.count / one.perMs) * 1000);
  return Math.min(...each);
}
