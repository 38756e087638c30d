import { IntelClient } from "../api/intel-client.js";
import { syntheticHeader } from "../api/endpoints.js";
import { UsageError } from "../core/errors.js";
import { userStateFolder } from "../core/files/make-folder.js";
import type { ResourceStack } from "../core/resource-stack.js";
import { AddressWatch } from "../lookup/address-watch.js";
import { failFast } from "../lookup/attempt/fail-fast.js";
import { Outage } from "../lookup/attempt/outage.js";
import type { CachedOptions } from "../lookup/cache.js";
import { composeLookup, type LookupClient } from "../lookup/compose.js";
import { obeyHints } from "../lookup/pace/obey-hints.js";
import type { Throttling } from "../lookup/pace/request-pace.js";
import { Slots } from "../lookup/pace/slots.js";
import type { Lookup } from "../lookup/types.js";
import type { LookupStore } from "../store/store.js";
import type { OpenRun } from "../run/open-run.js";
import type { RunSignals } from "../run/run-signals.js";
import type { EnrichJob } from "../run/types.js";
import {
  type Connections,
  openConnections,
  openPaces,
  openRunJournal,
  type Paces,
} from "./open-connections.js";

/** What the lookup of a run depends on. */
export interface AssembleOptions extends Pick<
  OpenRun,
  "clock" | "tally" | "journalPath" | "target" | "before" | "state" | "fingerprint"
> {
  /** Whether rows contain results as received. */
  readonly asReceived: boolean;
  /** False: partial answers in a cache are requested again. @default true */
  readonly partialsFromCache?: boolean | undefined;
  /** Stopped when a budget or quota is spent. */
  readonly signals: RunSignals;
}

/** The lookup of a run. */
export interface AssembledLookup {
  readonly lookup: Lookup;
  readonly journal: Pick<LookupStore, "get" | "sync" | "durableBytes">;
  /** Tells when enough lookups are queued. */
  readonly slots: Slots;
  /** Tracks which endpoints answered anything but 404. */
  readonly address: AddressWatch;
  /** What throttle answers have shown so far. */
  readonly throttling: () => Throttling;
  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  readonly pausedMs: () => number;
  /** Answers of earlier runs, if the run uses them. */
  readonly cache: RunCache | undefined;
}

type RunCache = Omit<CachedOptions, "endpoint">;

/** Assembles the lookup of a run from journal, cache, pace, connections and client. */
export async function assembleLookup(
  job: EnrichJob,
  options: AssembleOptions,
  stack: ResourceStack,
): Promise<AssembledLookup> {
  const { settings, onWarning } = job;
  const { clock, tally, signals } = options;
  const intelUrl = requireAddress(job);
  const journal = await openRunJournal(job, options);
  stack.use(journal.store);
  const earlier = options.state?.earlier ?? null;
  if (earlier !== null) {
    const { takeOverAnswers } = await import("../run/take-over.js");
    await takeOverAnswers(job, earlier, journal.store, options);
  }
  const cache = await openCacheOf(job, options, stack);
  const paces = await openPacesOf(job, intelUrl, options, stack);
  const connections = await openConnectionsOf(job, intelUrl, stack);
  const address = new AddressWatch({ address: intelUrl, before: tally.snapshot().requests });
  const answered = (): boolean => tally.answered || job.shared?.answered === true;
  const onEarlyEnd = (error: unknown): void => signals.end(error);
  const { concurrency, maxRequests } = settings;
  const slots = new Slots({ concurrency, ahead: connections.ahead });
  const lookup = composeLookup({
    client: clientOf(job, intelUrl, options, { connections, paces, address, slots }),
    lookups: settings.lookups,
    bogons: settings.bogons,
    budget: maxRequests === undefined ? undefined : { maxRequests, onSpent: onEarlyEnd },
    concurrency,
    slots,
    pace: paces.run,
    shares: paces.shares,
    retries: settings.retries,
    partialRetries: settings.partialRetries,
    failFast: failFast({ address: intelUrl, answered }),
    outage: new Outage({
      patienceMs: settings.outagePatience,
      probes: paces.probes,
      address: intelUrl,
      answered,
      clock,
      onChange: onWarning,
    }),
    store: journal.counting,
    isResumed: journal.isResumed,
    cache,
    clock,
  });
  const { throttling, pausedMs } = paces;
  return { lookup, journal: journal.store, slots, address, throttling, pausedMs, cache };
}

function requireAddress({ settings: { intelUrl } }: EnrichJob): string {
  if (intelUrl !== undefined) return intelUrl;
  throw new UsageError("no_address", "the address of the service is missing", {
    hint: "give --intel-url URL, or set REPUTE_INTEL_URL",
  });
}

/** Opens the cache of a job. A fault in the cache is a warning and never ends the run. */
async function openCacheOf(
  job: EnrichJob,
  options: AssembleOptions,
  stack: ResourceStack,
): Promise<RunCache | undefined> {
  const { settings, serviceName, shared } = job;
  const { clock, asReceived, partialsFromCache: partials } = options;
  const address = serviceName ?? requireAddress(job);
  if (shared?.cache !== undefined) return { address, store: shared.cache, partials };
  if (settings.cache === undefined) return undefined;
  const { openCacheAt } = await import("../store/cache/open-cache.js");
  const store = await openCacheAt({
    folder: settings.cache,
    ttlMs: settings.cacheTtl,
    clock,
    asReceived,
    onWarning: warningTo(job, options),
  });
  stack.use(store);
  return { address, store, partials };
}

async function openPacesOf(
  job: EnrichJob,
  service: string,
  options: AssembleOptions,
  stack: ResourceStack,
): Promise<Paces> {
  const { clock, target, signals } = options;
  const { stateFolder = userStateFolder(process.env) } = job;
  const onWarning = warningTo(job, options);
  const paces = await openPaces(job.settings, {
    // A service that ends with the run has no quotas to remember.
    quotas: job.embedded === true ? null : { service, stateFolder, output: target.base, onWarning },
    shared: job.shared,
    clock,
    onEarlyEnd: (error) => signals.end(error),
  });
  stack.defer(() => paces.giveBack());
  return paces;
}

async function openConnectionsOf(
  { settings, shared }: EnrichJob,
  intelUrl: string,
  stack: ResourceStack,
): Promise<Connections> {
  if (shared?.connections !== undefined) {
    return { dispatcher: shared.connections, ahead: 0 };
  }
  const connections = await openConnections(intelUrl, settings);
  stack.defer(() => connections.dispatcher.destroy());
  return connections;
}

interface ClientParts {
  readonly connections: Connections;
  readonly paces: Paces;
  readonly address: AddressWatch;
  readonly slots: Slots;
}

/** Creates the client, which also learns from each answer about the service and its limits. */
function clientOf(
  { settings, apiKey, shared }: EnrichJob,
  baseUrl: string,
  { clock, tally, signals, asReceived }: AssembleOptions,
  { connections, paces, address, slots }: ClientParts,
): LookupClient {
  const client = new IntelClient({
    baseUrl,
    dispatcher: connections.dispatcher,
    clock,
    apiKey: apiKey ?? undefined,
    timeoutMs: settings.timeout,
    onAttempt: (attempt) => {
      tally.request(attempt.endpoint, attempt.outcome);
      if (attempt.headers?.[syntheticHeader] !== undefined) tally.synthetic = true;
      address.note(attempt);
      obeyHints(attempt, { pace: paces.run, slots, clock });
    },
    // A later run may read cached results into its rows as received.
    asReceived: asReceived || settings.cache !== undefined || shared?.cache !== undefined,
  });
  // A stopped run still accepts the answers of open requests.
  const open = { signal: signals.requests };
  return { attempt: (endpoint, item) => client.attempt(endpoint, item, open) };
}

function warningTo({ onWarning }: EnrichJob, { tally }: AssembleOptions) {
  return (message: string): void => {
    tally.warning(message);
    onWarning?.(message);
  };
}
