import { isQuota } from "../../core/options.js";
import type { ResourceStack } from "../../core/resource-stack.js";
import { tightest } from "../../client/store/quota/quota.js";
import type { RunLookup } from "./run-lookup.js";
import { perSecond } from "../../client/session/connections.js";
import { quotaOfAll } from "../../client/session/paces.js";
import type { Session } from "../../client/session/session.js";
import { countedEndpoints, countInBackground } from "./count-lookups.js";
import type { EnrichJob, RunProgress } from "./types.js";
import type { OpenRun } from "./open-run.js";
import { timeLeft } from "./run-signals.js";
import type { RowHandling } from "./rows/row-handling.js";

type ProgressParts = Pick<OpenRun, "source" | "tally" | "before" | "clock"> &
  Pick<RunLookup, "cache" | "journal" | "throttling" | "pausedMs" | "isAway">;

/** Starts counting the lookups of a run and returns a function that tells the run's progress. */
export async function progressOf(
  job: EnrichJob,
  handling: RowHandling,
  run: ProgressParts,
  stack: ResourceStack,
): Promise<(rowsRead: number) => RunProgress> {
  const { source, tally, before, clock, cache, journal, throttling, pausedMs, isAway } = run;
  const { lookups } = job.settings.lookup;
  const endpoints = countedEndpoints(lookups);
  const limit = perSecond(job.session.rates);
  const ends = await endsOf(job, run);
  const planned = countInBackground(
    job,
    handling,
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
async function endsOf(
  job: EnrichJob,
  { tally, clock }: ProgressParts,
): Promise<() => RunProgress["ends"]> {
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
  { service, rates, stateFolder, sharesPace }: Session,
  now: number,
): Promise<readonly number[]> {
  if (!rates.some(isQuota) || sharesPace) return [];
  const quotas = tightest(rates.filter(isQuota));
  if (service.embedded || stateFolder === null) {
    return quotas.map(({ count }) => count);
  }
  const { usedQuotas } = await import("../../client/session/used-quotas.js");
  const scoped = quotas.map((rate) => ({ scope: quotaOfAll, rate }));
  const counter = { service: service.url, stateFolder, onWarning: () => undefined };
  const used = await usedQuotas(counter, scoped, now);
  return quotas.map(({ count }, at) => count - (used?.[at] ?? 0));
}
