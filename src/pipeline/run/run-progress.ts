import type { ResourceStack } from "../../core/resource-stack.js";
import type { AssembledLookup } from "../lookup/assemble-lookup.js";
import { perSecond } from "../lookup/open-connections.js";
import { countedEndpoints, countInBackground } from "../plan/count-lookups.js";
import type { EnrichJob, RunProgress } from "../types.js";
import type { OpenRun } from "./open-run.js";
import type { RowJob } from "./reading.js";

/** Starts counting the lookups of a run and returns a function that tells the run's progress. */
export function progressOf(
  job: EnrichJob,
  rows: RowJob,
  run: Pick<OpenRun, "source" | "tally" | "before" | "clock"> & Pick<AssembledLookup, "cache">,
  stack: ResourceStack,
): (rowsRead: number) => RunProgress {
  const { source, tally, before, clock, cache } = run;
  const { lookups, bogons, rate = [] } = job.settings;
  const endpoints = countedEndpoints(lookups);
  const limit = perSecond(rate);
  const planned = countInBackground(
    job,
    rows,
    {
      endpoints,
      bogons,
      cache,
      startedAt: before?.startedAt ?? new Date(clock.now()).toISOString(),
      perSecond: limit,
    },
    stack,
  );
  return (rowsRead) => ({
    rowsRead,
    rowsWritten: tally.rows,
    requests: tally.requestTotal,
    statuses: tally.statuses,
    verdicts: tally.verdicts,
    lookups: {
      planned: planned(),
      settled: endpoints.reduce((sum, name) => sum + (tally.settled.get(name) ?? 0), 0),
      requests: tally.settledRequests,
    },
    maxPerSecond: Number.isFinite(limit) ? limit : null,
    bytesRead: source.bytesRead(),
    bytesTotal: source.bytesTotal,
  });
}
