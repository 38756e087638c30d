import { resolve } from "node:path";
import { type ExclusionList, excludedMessage } from "../../core/exclusions/exclusion-list.js";
import type { Manifest } from "../../core/manifest.js";
import { hasOtherTime } from "../../core/columns.js";
import {
  findingSources,
  type MadeUp,
  countedVerdicts,
  type FindingStatus,
  findingStatuses,
  firstAnswer,
  type LookupRecord,
} from "../../core/finding.js";
import { hasOtherWord, verdictOf } from "../../core/verdict.js";
import { itemKinds } from "../../core/item/item.js";
import {
  type EnrichedRow,
  type LeftOutReason,
  leftOutReasons,
  type Row,
  rowWarnings,
  zeros,
} from "../../core/row.js";
import type { OpenedLookup } from "../../client/session/session.js";
import type { OpenedSource } from "../../io/input/types.js";
import { addCount, type Counts, mostFrequentFirst, otherTimes, otherWords } from "./counters.js";
import { Elsewhere } from "./elsewhere.js";

/** What is counted by a name that the data brings. */
const named = ["unsupported", "errors", "tags", "warnings"] as const;

type Named = Record<(typeof named)[number], Counts>;

/** The counts of a run as plain JSON, as its manifest has them. Stored in checkpoints. */
export type TallySnapshot = ReturnType<Tally["snapshot"]>;

/** Counts of the run so far. Its journal has the requests of its answers, and the drift. */
interface CountsBefore extends Partial<Omit<Manifest, "requests" | "drift">> {
  readonly rows?: number;
  readonly unjournalled?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** What is counted by known names, as the manifest has it. */
function knownCounts({ rows = 0, left_out, exclusions, ...from }: CountsBefore) {
  const { retried, took_over, earlier_rows, synthetic, sample } = from;
  const outcomes = (of?: Partial<Pick<Manifest, "statuses" | "verdicts">>) => ({
    statuses: { ...zeros(findingStatuses), ...of?.statuses },
    verdicts: { ...zeros(countedVerdicts), ...of?.verdicts },
  });
  return {
    rows,
    /** Rows that are counted and not written. */
    left_out: { ...zeros(leftOutReasons), ...left_out, ...outcomes(left_out) },
    ...outcomes(from),
    kinds: { ...zeros(itemKinds), ...from.kinds },
    sources: { ...zeros(findingSources), ...from.sources },
    /** The exclusion lists of the run, with the rows that they held back. */
    exclusions: exclusions?.map((list) => ({ ...list })),
    retried,
    took_over,
    earlier_rows,
    /** How its answers are made up; neither for those of a real service. */
    synthetic,
    sample,
  };
}

/** Counts rows as they are written and requests as they end. */
export class Tally {
  requestTotal = 0;
  /** True once the service has answered, whatever the status. */
  answered = false;
  /** Requests that were answered with 429. */
  throttled = 0;
  readonly counts: ReturnType<typeof knownCounts>;
  readonly elsewhere: Elsewhere;
  readonly #named: Named;
  readonly #warnedRows: Counts;
  readonly #drift: Counts = new Map();
  /** By endpoint. */
  readonly #requests = new Map<string, Counts>();
  /** Those that are not in the journal, or not yet. */
  readonly #open = new Map<string, Counts>();
  /**
   * Requests of lookups that ended without a finding in the journal, as of the last orderly stop. A
   * resumed run starts from these and adds the requests recorded in the journal.
   */
  #unjournalled: NonNullable<CountsBefore["unjournalled"]>;

  constructor(from: CountsBefore = {}) {
    this.counts = knownCounts(from);
    this.elsewhere = new Elsewhere(from);
    this.#named = Object.fromEntries(
      named.map((name) => [name, new Map(Object.entries(from[name] ?? {}))]),
    ) as Named;
    this.#warnedRows = new Map(Object.entries(from.warned_rows ?? {}));
    this.#unjournalled = from.unjournalled ?? {};
    for (const [endpoint, outcomes] of Object.entries(this.#unjournalled)) {
      for (const [outcome, n] of Object.entries(outcomes)) this.request(endpoint, outcome, n);
    }
  }

  /** Counts a finished request by HTTP status or transport fault code. */
  request(endpoint: string, outcome: string, n = 1): void {
    addCount(outcomesOf(this.#requests, endpoint), outcome, n);
    addCount(outcomesOf(this.#open, endpoint), outcome, n);
    this.requestTotal += n;
    // Called for every request, so test only until the first answer: a number is an HTTP status.
    if (!this.answered) this.answered = /^\d+$/.test(outcome);
    if (outcome === "429") this.throttled += n;
  }

  /** Counts a record that is written to the journal, or replayed from it. */
  journalled(endpoint: string, { origin, drift }: Pick<LookupRecord, "origin" | "drift">): void {
    for (const outcome of origin?.outcomes ?? []) {
      addCount(outcomesOf(this.#open, endpoint), outcome, -1);
    }
    for (const value of drift) addCount(this.#drift, value);
  }

  /** Call once all lookups have ended: requests that are not in the journal now never will be. */
  settle(): void {
    const open = Array.from(this.#open, ([endpoint, outcomes]) => {
      const left = [...outcomes].filter(([, n]) => n > 0);
      return [endpoint, Object.fromEntries(left)] as const;
    });
    this.#unjournalled = Object.fromEntries(open);
  }

  /** Counts a row. @param reason why it is not written */
  row(enriched: EnrichedRow, reason: LeftOutReason | null = null): void {
    const { counts } = this;
    const { row, item, finding } = enriched;
    const { status, source, error } = finding;
    for (const message of rowWarnings(row, item)) this.#warn(message, row);
    if (hasOtherTime(enriched)) this.#warn(otherTimes, row);
    this.elsewhere.note(row, item);
    counts.rows++;
    if (row.before !== undefined) this.#retry(row.before.status, status);
    const verdict = verdictOf(finding) ?? "unknown";
    // No verdict is `none` with such a word.
    if (verdict !== "none" && finding !== row.before && hasOtherWord(finding))
      this.#warn(otherWords, row);
    for (const outcomes of reason === null ? [counts] : [counts, counts.left_out]) {
      outcomes.statuses[status]++;
      outcomes.verdicts[verdict]++;
    }
    if (reason !== null) counts.left_out[reason]++;
    if (item !== null) {
      counts.kinds[item.kind]++;
      counts.sources[source]++;
    }
    if (error !== null) {
      addCount(this.#named[status === "unsupported" ? "unsupported" : "errors"], error.code);
      if (error.code === "excluded") this.#heldBack(error.message);
    }
    this.hasMadeUp(firstAnswer(finding)?.madeUp);
    const tags = finding.answers.query?.result["tags"];
    if (Array.isArray(tags)) {
      for (const tag of tags) if (typeof tag === "string") addCount(this.#named.tags, tag);
    }
  }

  /** Notes that there are such answers. */
  hasMadeUp(how: MadeUp | undefined): void {
    const { counts } = this;
    if (how === undefined || counts.synthetic) return;
    counts.synthetic = how === "invented" || undefined;
    counts.sample = how === "sample" || undefined;
  }

  get rows(): number {
    return this.counts.rows;
  }

  /** Rows that are in the output. */
  get written(): number {
    const { rows, left_out } = this.counts;
    return rows - left_out.distinct - left_out.only;
  }

  #warn(message: string, { number }: Row): void {
    this.warning(message);
    this.#warnedRows.set(message, Math.min(number, this.#warnedRows.get(message) ?? number));
  }

  #retry(before: FindingStatus, now: FindingStatus): void {
    const { retried = {} } = this.counts;
    const counts = retried[before];
    const isAsked = before === "failed" || before === "partial";
    const more = isAsked && { [before]: { ...counts, [now]: (counts?.[now] ?? 0) + 1 } };
    this.counts.retried = { ...retried, ...more };
  }

  /** Names the exclusion lists of the run. Those that are counted already, however spelled, keep their counts. */
  excludes(lists: readonly ExclusionList[]): void {
    for (const { path, entries, sha256 } of lists) {
      const all = this.counts.exclusions ?? [];
      const known = all.find((list) => resolve(list.path) === resolve(path));
      const own = { path, entries, sha256, rows: known?.rows ?? 0 };
      this.counts.exclusions = [...all.filter((list) => list !== known), own];
    }
  }

  /** Counts a row that a list held back, now or in the run that is retried. */
  #heldBack(message: string): void {
    for (const list of this.counts.exclusions ?? []) {
      if (message === excludedMessage(list.path)) list.rows++;
    }
  }

  warning(message: string, n = 1): void {
    addCount(this.#named.warnings, message, n);
  }

  snapshot() {
    return {
      ...structuredClone(this.counts),
      sources: sourceCounts(this.counts.sources),
      requests: Object.fromEntries(
        // Sort by name: the order of first answers differs from run to run.
        [...this.#requests]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([endpoint, outcomes]) => [endpoint, countsTo(outcomes)]),
      ),
      drift: mostFrequentFirst(this.#drift),
      unjournalled: this.#unjournalled,
      unsupported: mostFrequentFirst(this.#named.unsupported),
      errors: mostFrequentFirst(this.#named.errors),
      tags: mostFrequentFirst(this.#named.tags),
      warnings: mostFrequentFirst(this.#named.warnings),
      ...this.elsewhere.snapshot(),
      warned_rows: Object.fromEntries(this.#warnedRows),
    };
  }
}

function outcomesOf(requests: Map<string, Counts>, endpoint: string): Counts {
  const outcomes: Counts = requests.get(endpoint) ?? new Map();
  requests.set(endpoint, outcomes);
  return outcomes;
}

function countsTo(counts: Counts): Manifest["requests"][string] {
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  return { total, outcomes: mostFrequentFirst(counts) };
}

/** Most services are real: then those of the embedded one are left out. */
function sourceCounts(sources: Readonly<Record<string, number>>): Manifest["sources"] {
  const shown = ([name, n]: readonly [string, number]): boolean =>
    n > 0 || !["sample", "invented"].includes(name);
  return Object.fromEntries(Object.entries(sources).filter(shown));
}

export type RunProgress = Readonly<ReturnType<typeof progressOf>>;

export function progressOf(
  { tally, source }: { readonly tally: Tally; readonly source: OpenedSource },
  { pausedMs, isAway }: Pick<OpenedLookup, "pausedMs" | "isAway">,
  rowsRead: number,
) {
  return {
    /** Rows in the bytes that are read, whether their lookups have started or not. */
    rowsRead,
    rowsWritten: tally.rows,
    requests: tally.requestTotal,
    /** Requests that were answered with 429. */
    throttled: tally.throttled,
    /** Seconds until the next request after a throttle answer; 0 if nothing is held back. */
    pausedSeconds: pausedMs() / 1000,
    /** Whether the service is away: the run waits and probes it. */
    isAway: isAway(),
    statuses: tally.counts.statuses,
    /** Rows by verdict; `unknown` counts those without one. */
    verdicts: tally.counts.verdicts,
    /** Bytes read of the input as stored (compressed, if it is). */
    bytesRead: source.bytesRead(),
    /** Size of the input as stored; null if unknown (stdin). */
    bytesTotal: source.bytesTotal,
  };
}
