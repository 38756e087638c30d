import { setImmediate as turn } from "node:timers/promises";
import { type Attempt, lookupEndpoints } from "../../src/core/finding.js";
import type { Row } from "../../src/core/row.js";
import { ProgressMeter, type Speed } from "../../src/cli/terminal/progress-display.js";
import { Withheld } from "../../src/client/lookup/withheld.js";
import { composeLookup } from "../../src/client/lookup/compose.js";
import { Pace } from "../../src/client/pace/pace.js";
import { Slots } from "../../src/client/pace/slots.js";
import { countLookups } from "../../src/jobs/enrich/run-progress.js";
import { Tally } from "../../src/jobs/enrich/tally.js";
import { aProgress } from "./a-progress.js";
import { ManualClock } from "./manual-clock.js";
import { allRows, countingStore, moveBatches } from "./simulated-rows.js";
import { startRow } from "../../src/jobs/enrich/rows/reading.js";
import type { RowSource } from "../../src/jobs/enrich/row-source.js";

export interface RunSimulation {
  readonly rows: RowSource;
  readonly perSecond: number;
  /** The service's answer to a request at a time since the start. */
  readonly answer: (atMs: number) => Attempt;
  /** Random numbers for back-off, from 0 (inclusive) to 1. */
  readonly random: () => number;
}

/** What the meter says at a moment of a run. */
interface MeteredMoment extends Speed {
  readonly seconds: number;
}

/** A simulated run: what its meter said four times a second, and how long it took. */
export interface MeteredRun {
  readonly moments: readonly MeteredMoment[];
  readonly seconds: number;
}

const latencyMs = 40;

const withheld = new Withheld({ bogons: "local", urlQuery: "keep", lists: [] });

/** Moves the rows of an input through all the lookups of a run, in simulated time. */
export async function simulateRun({ rows, ...options }: RunSimulation): Promise<MeteredRun> {
  const clock = new ManualClock();
  const tally = new Tally();
  const batches = await allRows(rows);
  const planned = await countLookups(
    { rows },
    {
      endpoints: lookupEndpoints,
      withheld,
      startedAt: new Date(clock.now()).toISOString(),
      signal: new AbortController().signal,
    },
  );
  const run = { ended: false };
  const rates = [{ count: options.perSecond, perMs: 1000 }];
  const pace = new Pace({ rates, clock, random: options.random });
  const moved = move(batches, tally, clock, { ...options, pace }).finally(() => (run.ended = true));
  const progress = () =>
    aProgress({
      rowsWritten: tally.rows,
      requests: tally.requestTotal,
      lookups: {
        planned,
        settled: lookupEndpoints.reduce((sum, name) => sum + (tally.settled.get(name) ?? 0), 0),
        requests: tally.settledRequests,
      },
      maxPerSecond: options.perSecond,
      throttling: pace.limits.throttling,
      bytesTotal: null,
    });
  const meter = new ProgressMeter(progress(), clock.monotonic());
  const moments: MeteredMoment[] = [];
  const seconds = (): number => clock.monotonic() / 1000;
  while (!run.ended) {
    moments.push({ ...meter.measure(progress(), clock.monotonic()), seconds: seconds() });
    await clock.advance(250);
    // Rows without requests take turns of the event loop, but no time.
    for (let turns = 0; turns < 64; turns++) await turn();
  }
  await moved;
  return { moments, seconds: seconds() };
}

function move(
  batches: readonly (readonly Row[])[],
  tally: Tally,
  clock: ManualClock,
  { answer, random, pace }: Omit<RunSimulation, "rows"> & { readonly pace: Pace },
): Promise<void> {
  const concurrency = 32;
  const slots = new Slots({ concurrency });
  const lookup = composeLookup({
    client: {
      async attempt(endpoint) {
        await clock.sleep(latencyMs);
        const attempt = answer(clock.monotonic());
        tally.request(endpoint, attempt.outcome);
        return attempt;
      },
    },
    lookups: lookupEndpoints,
    withheld,
    concurrency,
    slots,
    pace,
    retries: 5,
    partialRetries: 2,
    store: countingStore(tally),
    clock,
    random,
  });
  return moveBatches(batches, {
    start: startRow(lookup),
    sink: { write: () => Promise.resolve() },
    tally,
    clock,
    concurrency,
    slots,
  });
}
