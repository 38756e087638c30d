import { type Attempt, lookupEndpoints } from "../../src/core/finding.js";
import { composeLookup } from "../../src/client/lookup/compose.js";
import { Outage } from "../../src/client/lookup/attempt/outage.js";
import { Pace } from "../../src/client/pace/pace.js";
import { Slots } from "../../src/client/pace/slots.js";
import { readingOf, startRow } from "../../src/jobs/enrich/rows/reading.js";
import { Tally, type TallySnapshot } from "../../src/jobs/enrich/tally.js";
import { complete, failed, partial, quick } from "../client/lookup/attempts.js";
import { ManualClock } from "./manual-clock.js";
import { seeded } from "./seeded.js";
import { allRows, countingStore, moveBatches } from "./simulated-rows.js";

const concurrency = 32;

/** What a service does with a request: an attempt, after so many milliseconds. */
type Behaviour = (
  answer: Attempt,
  luck: number,
  nowMs: number,
) => readonly [afterMs: number, attempt: Attempt];

const usualMs = 40;

/** Hits 30% of the requests; the others are answered as usual. */
function sometimes(fault: Behaviour): Behaviour {
  return (answer, luck, nowMs) => (luck < 0.3 ? fault(answer, luck, nowMs) : [usualMs, answer]);
}

/** Admits one request in two seconds. */
function limited(status: 429 | 503): Behaviour {
  let freeAt = 0;
  return (answer, _luck, nowMs) => {
    if (nowMs < freeAt) {
      return [usualMs / 2, failed(`http_${status}`, "throttled", null, status)];
    }
    freeAt = nowMs + 2_000;
    return [usualMs, answer];
  };
}

/** The faults, each of which comes on once in a night. */
const faults = (): Readonly<Record<string, Behaviour>> => ({
  late: sometimes((answer) => [9_000, answer]),
  partial: sometimes(() => [usualMs, partial({ item: "a.example.com" }, ["intent"])]),
  "429": limited(429),
  reset: sometimes(() => [usualMs, failed("connection_reset", "transient")]),
  timeout: sometimes(() => [30_000, failed("timeout", "transient")]),
  "503": limited(503),
  "error 500": sometimes(() => [usualMs, failed("http_500", "transient", null, 500)]),
  outage: () => [5, failed("connect_refused", "transient")],
});

/** 25 minutes of a night. */
interface Stretch {
  /** The fault that was on, or `calm`. */
  readonly phase: string;
  readonly requests: number;
  /** Most requests within ten seconds. */
  readonly most: number;
  readonly rows: number;
  /** Most requests open at once, and most timers. */
  readonly open: number;
  readonly timers: number;
}

export interface SimulatedNight {
  readonly stretches: readonly Stretch[];
  readonly tally: TallySnapshot;
  readonly seconds: number;
  /** Numbers of the rows, as they were written. */
  readonly written: readonly number[];
  /** Answers that were given, one for each lookup that succeeds. */
  readonly answers: number;
  /** Timers left at the end. */
  readonly left: number;
}

const stretchMs = 1_500_000;

/**
 * A night in simulated time: rows through lookup, retries, breaker and pace, against a service whose
 * faults come on for 25 minutes each, with 25 calm ones between.
 */
export async function simulateNight(
  path: string,
  perSecond: number,
  seed: number,
): Promise<SimulatedNight> {
  const clock = new ManualClock();
  const random = seeded(seed);
  const tally = new Tally();
  const phases = Object.entries(faults()).flatMap(
    ([name, behave]) =>
      [
        ["calm", null],
        [name, behave],
      ] as const,
  );
  const stretches: { -readonly [K in keyof Stretch]: Stretch[K] }[] = [];
  const recent: number[] = [];
  const written: number[] = [];
  let [open, answers] = [0, 0];
  const now = () => {
    const at = Math.floor(clock.monotonic() / stretchMs);
    const [phase, behave] = phases[at] ?? ["calm", null];
    while (stretches.length <= at) {
      stretches.push({ phase, requests: 0, most: 0, rows: 0, open: 0, timers: 0 });
    }
    return { stretch: stretches[at]!, behave };
  };
  const arrive = (): Behaviour | null => {
    const { stretch, behave } = now();
    const ms = clock.monotonic();
    recent.push(ms);
    while (ms - recent[0]! >= 10_000) recent.shift();
    stretch.requests++;
    stretch.most = Math.max(stretch.most, recent.length);
    stretch.open = Math.max(stretch.open, ++open);
    stretch.timers = Math.max(stretch.timers, clock.pending);
    return behave;
  };
  const slots = new Slots({ concurrency });
  const rows = readingOf({ path }, {});
  const batches = await allRows(rows);
  const lookup = composeLookup({
    client: {
      async attempt(endpoint) {
        const behave = arrive();
        const usual = endpoint === "query" ? complete() : quick();
        const [afterMs, attempt] = behave?.(usual, random(), clock.monotonic()) ?? [usualMs, usual];
        await clock.sleep(afterMs);
        open--;
        if (attempt === usual) answers++;
        tally.request(endpoint, attempt.outcome);
        return attempt;
      },
    },
    lookups: lookupEndpoints,
    concurrency,
    slots,
    pace: new Pace({ rates: [{ count: perSecond, perMs: 1000 }], clock, random }),
    retries: 5,
    partialRetries: 2,
    outage: new Outage({
      patienceMs: 1_800_000,
      address: "the service",
      answered: () => tally.answered,
      clock,
    }),
    store: countingStore(tally),
    clock,
    random,
  });
  await clock.run(
    moveBatches(batches, {
      start: startRow(lookup),
      sink: {
        async write(list) {
          for (const { row } of list) written.push(row.number);
          now().stretch.rows += list.length;
        },
      },
      tally,
      clock,
      concurrency,
      slots,
    }),
  );
  const seconds = clock.monotonic() / 1000;
  return { stretches, tally: tally.snapshot(), seconds, written, answers, left: clock.pending };
}
