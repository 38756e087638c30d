import { isQuota, tightest } from "../../core/options.js";
import type { ResourceStack } from "../../core/resource-stack.js";
import type { RunLookup } from "./run-lookup.js";
import { quotaOfAll } from "../../client/pace/pace.js";
import { perSecond, usedQuotas } from "../../client/session/connections.js";
import type { Job, RunProgress } from "./types.js";
import type { OpenRun } from "./open-run.js";
import { timeLeft } from "./run-signals.js";
import { setImmediate as turn } from "node:timers/promises";
import type { Finding, LookupEndpoint } from "../../core/finding.js";
import { itemKey } from "../../client/lookup/attempt/journalled.js";
import type { LookupChoice } from "../../client/lookup/options.js";
import type { Withheld } from "../../client/lookup/withheld.js";
import type { LookupStore } from "../../client/store/store.js";
import { isReadTwice, startRow } from "./rows/reading.js";
import { type CachedAnswers, type FindAnswer, findCached, PlannedItems } from "./planned-items.js";

type ProgressParts = Pick<OpenRun, "job" | "source" | "tally" | "before" | "clock"> &
  Pick<RunLookup, "cache" | "journal" | "throttling" | "pausedMs" | "isAway">;

/** Starts counting the lookups of a run and returns a function that tells the run's progress. */
export async function progressOf(
  run: ProgressParts,
  stack: ResourceStack,
): Promise<(rowsRead: number) => RunProgress> {
  const { job, source, tally, before, clock, cache, journal, throttling, pausedMs, isAway } = run;
  const { lookups } = job.settings.lookup;
  const endpoints = countedEndpoints(lookups);
  const limit = perSecond(job.session.rates);
  const ends = await endsOf(run);
  const planned = countInBackground(
    job,
    {
      endpoints,
      withheld: await job.session.withheld(job.settings.lookup),
      cache,
      takenOver: tally.tookOver === null ? undefined : journal,
      startedAt: before?.startedAt ?? new Date(clock.now()).toISOString(),
      perSecond: limit,
    },
    stack,
  );
  return (rowsRead) => ({
    rowsRead,
    rowsWritten: tally.rows,
    requests: tally.requestTotal,
    throttled: tally.throttled,
    pausedSeconds: pausedMs() / 1000,
    isAway: isAway(),
    statuses: tally.statuses,
    verdicts: tally.verdicts,
    lookups: {
      planned: planned(),
      settled: endpoints.reduce((sum, name) => sum + (tally.settled.get(name) ?? 0), 0),
      requests: tally.settledRequests,
    },
    maxPerSecond: Number.isFinite(limit) ? limit : null,
    throttling: tally.throttled > 0 ? "named" : throttling(),
    ends: ends(),
    bytesRead: source.bytesRead(),
    bytesTotal: source.bytesTotal,
  });
}

/** Returns a function that tells what is left of budget, quotas and deadline. */
async function endsOf({ job, tally, clock }: ProgressParts): Promise<() => RunProgress["ends"]> {
  const { maxRequests, deadline } = job.settings.run;
  // A resumed run has requests of its earlier part.
  const sentBefore = tally.requestTotal;
  const budgets = [maxRequests ?? [], await quotasLeft(job.session, clock.now())].flat();
  const most = budgets.length === 0 ? null : Math.min(...budgets);
  const left = deadline === undefined ? null : timeLeft(deadline, clock);
  const at = deadline !== undefined && "hours" in deadline ? deadline.text : null;
  return () => ({
    requests: most === null ? null : Math.max(0, most - (tally.requestTotal - sentBefore)),
    seconds: left === null ? null : Math.max(0, left() / 1000),
    at,
  });
}

/** Requests that the quotas of the run still allow; none for quotas that others count. */
async function quotasLeft(
  { service, rates, stateFolder, sharesPace }: Job["session"],
  now: number,
): Promise<readonly number[]> {
  if (!rates.some(isQuota) || sharesPace) return [];
  const quotas = tightest(rates.filter(isQuota));
  if (service.embedded || stateFolder === null) {
    return quotas.map(({ count }) => count);
  }
  const scoped = quotas.map((rate) => ({ scope: quotaOfAll, rate }));
  const counter = { service: service.url, stateFolder, onWarning: () => undefined };
  const used = await usedQuotas(counter, scoped, now);
  return quotas.map(({ count }, at) => count - (used?.[at] ?? 0));
}

/** Requests per second from which the rate hardly limits a run, and counting would cost it time. */
const fastRate = 1_000;

/** Distinct items beyond which the lookups are not counted, to bound the memory. */
const mostItems = 1_000_000;

interface CountLookupsOptions {
  readonly endpoints: readonly LookupEndpoint[];
  readonly withheld: Withheld;
  /** Answers that need no request. */
  readonly cache?: CachedAnswers | undefined;
  /** The journal of a run that took over answers, which need no request either. */
  readonly takenOver?: Pick<LookupStore, "get"> | undefined;
  /** Start of the run, RFC 3339 UTC: answers cached since then count as requests of the run. */
  readonly startedAt: string;
  readonly signal: AbortSignal;
}

/** The endpoints whose number of lookups is known beforehand: triage may skip its queries. */
function countedEndpoints(lookups: readonly LookupChoice[]): readonly LookupEndpoint[] {
  return lookups.flatMap((name) => (name === "triage" ? "quick-check" : name));
}

/**
 * Counts the lookups of a run in the background, for its progress: of a regular file, if a rate
 * limits the run.
 *
 * @returns the number of lookups; null until it is known, and if it cannot be
 */
export function countInBackground(
  job: Job,
  options: Omit<CountLookupsOptions, "signal"> & { readonly perSecond: number },
  stack: ResourceStack,
): () => number | null {
  const { input, onStart, session } = job;
  if (onStart === undefined || session.sharesPace) return () => null;
  if (options.perSecond >= fastRate) return () => null;
  const stop = new AbortController();
  let lookups: number | null = null;
  const counting = isReadTwice(input)
    .then(async (isTwice) => {
      if (isTwice) lookups = await countLookups(job, { ...options, signal: stop.signal });
    })
    // The run itself reports why its input cannot be read.
    .catch(() => undefined);
  stack.defer(() => {
    stop.abort();
    return counting;
  });
  return () => lookups;
}

/**
 * Counts the lookups that need requests, once per item and endpoint.
 *
 * @returns null if there are too many items
 * @throws the signal's reason, or why the input cannot be read
 */
export async function countLookups(
  { rows, refill }: Pick<Job, "rows" | "refill">,
  { endpoints, withheld, signal, ...answers }: CountLookupsOptions,
): Promise<number | null> {
  const items = new PlannedItems({ withheld, find: answersOf(answers), chosen: [] });
  // One promise shared by all items; nothing awaits it.
  const never = new Promise<Finding>(() => undefined);
  const start = (refill?.start ?? startRow)((item) => {
    items.add(item);
    return never;
  });
  const source = await rows.open(null);
  try {
    for await (const batch of source.rows) {
      for (const row of batch) start(row, signal);
      await items.counted();
      await turn();
      signal.throwIfAborted();
      if (items.distinct > mostItems) return null;
    }
  } finally {
    await source.close();
  }
  return endpoints.reduce((sum, name) => sum + items.requestsTo(name), 0);
}

/** Finds the answers that the run had before it began. */
function answersOf({
  cache,
  takenOver,
  startedAt,
}: Pick<CountLookupsOptions, "cache" | "takenOver" | "startedAt">): FindAnswer | null {
  if (cache === undefined && takenOver === undefined) return null;
  const cached = cache && findCached(cache);
  return async (endpoint, item) => {
    const taken = (await takenOver?.get(itemKey(endpoint, item))) ?? null;
    if (taken !== null && taken.origin === undefined) return taken.finding;
    const found = (await cached?.(endpoint, item)) ?? null;
    return found !== null && (found.lookedUpAt ?? "") < startedAt ? found : null;
  };
}
