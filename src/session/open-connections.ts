import { availableParallelism } from "node:os";
import type { Dispatcher } from "undici";
import type { RequestThread } from "../api/thread/request-thread.js";
import { isQuota, type Rate } from "../core/options.js";
import { eachEndpoint, type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import { type EndpointRates, ratesOf } from "../lookup/options.js";
import type { EnrichSettings } from "../run/options.js";
import type { Clock } from "../core/clock.js";
import { EarlyEndError, UsageError } from "../core/errors.js";
import type { Priority } from "../store/redis/redis-address.js";
import type { QuotaLocations } from "../store/quota/open-quotas.js";
import type { OutageProbes } from "../lookup/attempt/outage.js";
import type { EndpointPace, RequestPace, Throttling } from "../lookup/pace/request-pace.js";
import { Pace } from "../lookup/pace/pace.js";
import { MemoryQuotaStore, type QuotaStore } from "../store/quota/quota-store.js";
import type { EnrichJob, SharedResources } from "../run/types.js";
import { existsSync } from "node:fs";
import type { LookupRecord } from "../core/attempt.js";
import { endpointOf } from "../lookup/cache.js";
import { openJournal } from "../store/journal/journal.js";
import type { LookupStore } from "../store/store.js";
import type { AssembleOptions } from "./assemble-lookup.js";

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

type Settings = Pick<EnrichSettings, "concurrency" | "rate" | "maxRequests"> & EndpointRates;

/** The connections of a run. */
export interface Connections {
  readonly dispatcher: Dispatcher | RequestThread;
  /** Number of requests that may queue for a connection. */
  readonly ahead: number;
}

/**
 * Opens the connections of a run. A run with a high rate makes its requests on a separate thread.
 */
export async function openConnections(
  intelUrl: string,
  settings: Settings,
  threads = threadsHelp,
): Promise<Connections> {
  const { concurrency, rate = [] } = settings;
  if (threads && perSecond(rate) >= threadRate) {
    const { RequestThread } = await import("../api/thread/request-thread.js");
    const ahead = mayQueue(settings) ? maxQueue : 0;
    return { dispatcher: new RequestThread(concurrency), ahead };
  }
  const { createDispatcher } = await import("../api/http/dispatcher.js");
  const dispatcher = createDispatcher(intelUrl, { connections: concurrency });
  return { dispatcher, ahead: 0 };
}

/** Quotas and budgets are charged when a request leaves, so they forbid a queue. */
function mayQueue(settings: Settings): boolean {
  const own = lookupEndpoints.map((endpoint) => ratesOf(endpoint, settings));
  const all = [settings.rate ?? [], ...own];
  if (all.flat().some(isQuota) || settings.maxRequests !== undefined) return false;
  return all.every((rates) => perSecond(rates) >= queueRate);
}

/** Requests per second that the rates allow. Quotas limit the total, not the speed. */
export function perSecond(rates: readonly Rate[]): number {
  const each = rates.filter((one) => !isQuota(one)).map((one) => (one.count / one.perMs) * 1000);
  return Math.min(...each);
}

export interface OpenPacesOptions {
  /** Where rates per hour and longer are counted; null counts in memory, for this run only. */
  readonly quotas: QuotaLocations | null;
  readonly shared?: Pick<SharedResources, "pace" | "shares" | "quotas" | "probes"> | undefined;
  readonly clock: Clock;
  readonly onEarlyEnd: (error: EarlyEndError) => void;
}

/** Where a pace is shared; both undefined for a pace of its own. */
export interface PaceChoice {
  readonly pace?: string | undefined;
  readonly priority?: Priority | undefined;
}

/** The paces of a run: one for all endpoints, and one for each endpoint with rates of its own. */
export interface Paces {
  readonly run: RequestPace;
  readonly shares: Partial<Record<LookupEndpoint, EndpointPace>>;
  /** What throttle answers have shown so far to the run's own pace. */
  readonly throttling: () => Throttling;
  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  readonly pausedMs: () => number;
  /** Which of the processes that share the pace probes the service during an outage. */
  readonly probes?: OutageProbes | undefined;
  /** Returns reserved but unused requests to their quotas. */
  giveBack(): Promise<void>;
}

/** Creates the paces of a run from its rates. A spent quota ends the run, which can be resumed. */
export async function openPaces(
  settings: Pick<EnrichSettings, "rate"> & PaceChoice & EndpointRates,
  options: OpenPacesOptions,
): Promise<Paces> {
  const { quotas, shared, clock, onEarlyEnd } = options;
  if (settings.pace !== undefined && shared?.pace === undefined) {
    const { openSharedPaces } = await import("./open-shared-paces.js");
    return openSharedPaces({ ...settings, pace: settings.pace }, options);
  }
  if (settings.priority !== undefined && shared?.pace === undefined) {
    throw new UsageError("priority_without_pace", "--priority orders the runs that share a pace", {
      hint: "add --pace redis://HOST/DB, or omit --priority",
    });
  }
  const { rate = [] } = settings;
  const own = eachEndpoint((endpoint) => ratesOf(endpoint, settings));
  const all = [...rate, ...Object.values(own).flat()];
  const store = shared?.quotas ?? (await quotaStoreFor(all, quotas));
  const onUsedUp = (used: Rate, resumesAtMs: number): void =>
    onEarlyEnd(quotaUsedUp(used, resumesAtMs));
  const common = { clock, onUsedUp };
  const ofAll = { store, name: quotaOfAll };
  const ofRun = new Pace({ ...common, rates: rate, adaptive: true, quotas: ofAll });
  const shares: Partial<Record<LookupEndpoint, Pace>> = {};
  for (const name of lookupEndpoints) {
    if (own[name].length === 0) continue;
    shares[name] = new Pace({
      ...common,
      rates: own[name],
      isShare: true,
      quotas: { store, name },
    });
  }
  return {
    run: shared?.pace ?? ofRun,
    shares: shared?.shares ?? shares,
    throttling: () => ofRun.throttling,
    pausedMs: () => ofRun.pausedMs,
    probes: shared?.probes,
    async giveBack() {
      for (const pace of [ofRun, ...Object.values(shares)]) await pace.giveBack();
    },
  };
}

/** Name under which requests to all endpoints are counted together. */
export const quotaOfAll = "all";

/** Opens the store that counts quotas. Loads it only if the rates include a quota. */
export async function quotaStoreFor(
  rates: readonly Rate[],
  places: QuotaLocations | null,
): Promise<QuotaStore> {
  if (places === null || !rates.some(isQuota)) return new MemoryQuotaStore();
  const { openQuotas } = await import("../store/quota/open-quotas.js");
  return openQuotas(places);
}

/** The error that ends a run or command whose quota is used up. */
export function quotaUsedUp({ count, perMs }: Rate, resumesAtMs: number): EarlyEndError {
  const hours = perMs / 3_600_000;
  const nextMinuteMs = Math.ceil(resumesAtMs / 60_000) * 60_000;
  const at = new Date(nextMinuteMs).toISOString().replace(/:\d\d\.\d+Z$/, "Z");
  return new EarlyEndError(
    "quota_used_up",
    `the quota of ${count} requests in ${hours} h is used up until ${at}`,
  );
}

/** The journal of a run. */
export interface RunJournal {
  readonly store: LookupStore;
  /** The same store; records written through it are counted in the run's tally. */
  readonly counting: LookupStore;
  /** True if an earlier part of the run has left a journal. */
  readonly isResumed: boolean;
}

/**
 * Opens a run's journal and counts the records that an earlier part of the run left there.
 *
 * @throws FatalError `journal_*`
 */
export async function openRunJournal(
  { onWarning }: EnrichJob,
  { journalPath, before, asReceived, tally }: AssembleOptions,
): Promise<RunJournal> {
  // Count each record written; a resumed run counts it again during replay.
  const count = (key: string, record: LookupRecord): void => {
    if (record.origin !== undefined) tally.journalled(endpointOf(key), record);
  };
  const isResumed = existsSync(journalPath);
  const store = await openJournal({
    folder: journalPath,
    durableBytes: before?.journalBytes ?? 0,
    asReceived,
    onReplay(key, record) {
      for (const outcome of record.origin?.outcomes ?? []) {
        tally.request(endpointOf(key), outcome);
      }
      count(key, record);
    },
    onWarning,
  });
  const counting: LookupStore = {
    get: (key) => store.get(key),
    put(key, record) {
      count(key, record);
      return store.put(key, record);
    },
    sync: () => store.sync(),
    close: () => store.close(),
  };
  return { store, counting, isResumed };
}
