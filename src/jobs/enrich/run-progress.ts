import { quotaOfAll } from "../../client/pace/pace.js";
import { usedQuotas } from "../../client/session/connections.js";
import { isQuota, tightest } from "../../core/options.js";
import type { OpenRun } from "./open-run.js";
import type { RunLookup } from "./run-lookup.js";
import { timeLeft } from "./run-signals.js";
import type { Job, RunProgress } from "./types.js";

type ProgressParts = Pick<OpenRun, "job" | "source" | "tally" | "clock"> &
  Pick<RunLookup, "pausedMs" | "isAway">;

/** Returns a function that tells the run's progress. */
export async function progressOf(run: ProgressParts): Promise<(rowsRead: number) => RunProgress> {
  const { source, tally, pausedMs, isAway } = run;
  const ends = await endsOf(run);
  return (rowsRead) => ({
    rowsRead,
    rowsWritten: tally.rows,
    requests: tally.requestTotal,
    throttled: tally.throttled,
    pausedSeconds: pausedMs() / 1000,
    isAway: isAway(),
    statuses: tally.statuses,
    verdicts: tally.verdicts,
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
