import { openConnections } from "./open-connections.js";
import { IntelClient, lookupPath } from "../../api/intel-client.js";
import { rateLimitHintMs, tellsLimit } from "../../api/http/rate-limit-hint.js";
import { rateLimitPolicy } from "../../api/http/rate-limit-policy.js";
import type { Clock } from "../../core/clock.js";
import { type EarlyEndError, UsageError } from "../../core/errors.js";
import { AddressWatch } from "../../lookup/address-watch.js";
import { Backlog } from "../../lookup/pace/backlog.js";
import { composeLookup } from "../../lookup/compose.js";
import { userStateFolder } from "../../core/files/user-state-folder.js";
import { journalFault } from "../../store/journal/journal-fault.js";
import { Outage } from "../../lookup/attempt/outage.js";
import { reachable } from "../../lookup/attempt/reachable.js";
import type { FindingStore } from "../../store/store.js";
import type { QuotaPlaces } from "../../store/quota/open-quotas.js";
import type { Lookup } from "../../lookup/types.js";
import { openPaces } from "./open-paces.js";
import { openRunJournal } from "./run-journal.js";
import type { Tally } from "../run/tally.js";
import type { EnrichJob } from "../types.js";

export interface AssembleOptions {
  readonly clock: Clock;
  readonly tally: Tally;
  /** Folder of the run's journal, opened with what an earlier part left there; null: in memory. */
  readonly journalPath: string | null;
  /** Whether rows are written with results as received. Default false. */
  readonly asReceived?: boolean | undefined;
  /** Path that the files beside the output begin with; null where there are none: stdout, devices. */
  readonly outputBase: string | null;
  /** How much of the journal the run's checkpoint relies on, in bytes. Default 0. */
  readonly journalBytes?: number | undefined;
  /** False: partial answers are asked for again where a cache has them. Default true. */
  readonly partialsFromCache?: boolean | undefined;
  /** Aborting it ends the requests that are open. */
  readonly requests: AbortSignal;
  /** Told when the run shall stop early: a budget is spent. */
  readonly onEarlyEnd: (error: EarlyEndError) => void;
}

/** The lookup of a run, and what has to be closed with it. */
export interface AssembledLookup {
  readonly lookup: Lookup;
  readonly journal: Pick<FindingStore, "sync" | "durableBytes">;
  /** How many lookups wait for their turn. */
  readonly backlog: Backlog;
  /** Which endpoints answered anything but 404. */
  readonly address: AddressWatch;
  close(): Promise<void>;
}

/** So many lookups shall wait for a slot at least, so that none is empty while rows are read. */
const leastBacklog = 16;

/** Picks what a run's lookups are made of: connections, client, journal, pace. */
export async function assembleLookup(
  job: EnrichJob,
  options: AssembleOptions,
): Promise<AssembledLookup> {
  const { settings, apiKey, onWarning } = job;
  const { clock, tally, journalPath, requests, onEarlyEnd, asReceived = false } = options;
  const { intelUrl } = settings;
  if (intelUrl === undefined) {
    throw new UsageError("no_address", "the address of the service is not known", {
      hint: "give --intel-url URL or set REPUTE_INTEL_URL",
    });
  }
  let logFault: Error | null = null;
  const { dispatcher, foresight } = await openConnections(intelUrl, settings, {
    arrivals: journalPath,
    onLogFault: (fault) => (logFault ??= journalFault(journalPath ?? "", "write", fault)),
  });
  let opened: FindingStore | null = null;
  try {
    const { store, counting, isResumed } = await openRunJournal(job, options);
    opened = store;
    const address = new AddressWatch({ address: intelUrl, before: tally.snapshot().requests });
    const paces = await openPaces(settings, {
      quotas: quotaPlaces(job, intelUrl, options),
      clock,
      onEarlyEnd,
    });
    const client = new IntelClient({
      baseUrl: intelUrl,
      dispatcher,
      clock,
      apiKey: apiKey ?? undefined,
      timeoutMs: settings.timeout,
      onAttempt: (attempt) => {
        const { endpoint, outcome, headers } = attempt;
        tally.request(endpoint, outcome);
        address.note(attempt);
        if (headers === null) return;
        if (tellsLimit(headers)) foresight.end();
        else if (outcome === "200") foresight.begin();
        const hint = rateLimitHintMs(headers, clock);
        if (hint !== null) paces.run.hold(hint);
        const allowed = rateLimitPolicy(headers);
        if (allowed !== null) paces.run.advise(endpoint, allowed);
      },
      // What a cache keeps may go into rows of another run.
      asReceived: asReceived || settings.cache !== undefined,
    });
    const cache = await openCacheOf(job, options);
    // A lookup's own signal ends what waits (slot, pace, back-off); a request that is open ends
    // with the run's, so that an interrupted run can still take its answer.
    // What a budget or a quota counted is sent: it would count for nothing, or twice.
    const looksAhead = foresight.ceiling > 0;
    const open = { signal: requests, unsent: looksAhead ? "reject" : "send" } as const;
    const onEnding = onAbortOnce(() => {
      foresight.end();
      if (looksAhead && "handBack" in dispatcher) dispatcher.handBack();
    });
    const backlog = new Backlog(Math.max(leastBacklog, settings.concurrency + foresight.ceiling));
    const lookup = composeLookup({
      client: {
        query: (item, { signal }) => {
          onEnding(signal);
          // What was handed back for this reason comes here again.
          return logFault === null ? client.query(item, open) : Promise.reject(logFault);
        },
        quickCheck: (item, { signal }) => {
          onEnding(signal);
          return logFault === null ? client.quickCheck(item, open) : Promise.reject(logFault);
        },
      },
      lookups: settings.lookups,
      bogons: settings.bogons,
      budget:
        settings.maxRequests === undefined
          ? undefined
          : { maxRequests: settings.maxRequests, onSpent: onEarlyEnd },
      concurrency: settings.concurrency,
      foresight,
      backlog,
      pace: paces.run,
      shares: paces.shares,
      retries: settings.retries,
      partialRetries: settings.partialRetries,
      reachable: reachable({ address: intelUrl, answered: () => tally.answered }),
      outage: new Outage({
        patienceMs: settings.outagePatience,
        address: intelUrl,
        answered: () => tally.answered,
        clock,
        onChange: onWarning,
      }),
      store: counting,
      recoveredPath: isResumed ? lookupPath : undefined,
      onRecovered: (endpoint, { httpStatus }) => tally.request(endpoint, String(httpStatus)),
      cache:
        cache === null
          ? undefined
          : {
              address: job.serviceName ?? intelUrl,
              store: cache,
              partials: options.partialsFromCache,
            },
      clock,
    });
    return {
      lookup,
      journal: store,
      backlog,
      address,
      async close() {
        await dispatcher.destroy();
        await store.close();
        await cache?.close();
        await paces.giveBack();
      },
    };
  } catch (error) {
    await dispatcher.destroy();
    await opened?.close();
    throw error;
  }
}

/** Where the job's quotas are counted; null for a service that ends with the run. */
function quotaPlaces(
  job: EnrichJob,
  service: string,
  { tally, outputBase }: AssembleOptions,
): QuotaPlaces | null {
  if (job.embedded === true) return null;
  const { stateFolder = userStateFolder(process.env), onWarning } = job;
  return {
    service,
    stateFolder,
    output: outputBase,
    onWarning: (message) => {
      tally.warning(message);
      onWarning?.(message);
    },
  };
}

/** The cache that the job names; whatever is wrong with it is a warning, never the run's end. */
async function openCacheOf(
  { settings, onWarning }: EnrichJob,
  { clock, tally, asReceived }: AssembleOptions,
): Promise<FindingStore | null> {
  if (settings.cache === undefined) return null;
  const { openCache } = await import("../../store/cache/finding-cache.js");
  return openCache({
    folder: settings.cache,
    ttlMs: settings.cacheTtl,
    clock,
    asReceived,
    onWarning: (message) => {
      tally.warning(message);
      onWarning?.(message);
    },
  });
}

/** Listens to a signal when it is first seen; all lookups of a run have the same. */
function onAbortOnce(listener: () => void): (signal: AbortSignal) => void {
  let seen: AbortSignal | null = null;
  return (signal) => {
    if (signal === seen) return;
    seen = signal;
    signal.addEventListener("abort", listener, { once: true });
  };
}
