import type { ExclusionRecord, LeftOutCounts, RetriedRows } from "../core/manifest/manifest.js";
import type { LookupRecord } from "../core/attempt.js";
import { hasOtherTime } from "../core/columns.js";
import {
  countedVerdicts,
  type Finding,
  type FindingSource,
  type FindingStatus,
  findingStatuses,
  lookupEndpoints,
  type VerdictCounts,
  verdictOf,
} from "../core/finding.js";
import { type ItemKind, itemKinds } from "../core/item/item.js";
import { type EnrichedRow, type LeftOutReason, type Row, rowWarnings, zeros } from "../core/row.js";
import { ExclusionCounts } from "./exclusion-counts.js";
import { otherTimes } from "./counted-warning.js";
import { LeftOutCounter } from "./left-out-counts.js";

/** Maximum number of distinct names per counter; further ones are counted under `otherNames`. */
const maxNames = 10_000;

type Counts = Map<string, number>;

/** Name under which a counter sums up the names beyond its maximum. */
export const otherNames = "(others)";

/** The counts of a run as plain JSON, stored in checkpoints. */
export interface TallySnapshot {
  readonly rows: number;
  /** Rows that were read and not written; absent for none. */
  readonly skipped?: number;
  readonly left_out?: LeftOutCounts;
  readonly statuses: Record<FindingStatus, number>;
  readonly verdicts: VerdictCounts;
  readonly kinds: Record<ItemKind, number>;
  readonly sources: Record<FindingSource, number>;
  readonly requests: Record<string, { total: number; outcomes: Record<string, number> }>;
  /**
   * Requests of lookups that ended without a finding in the journal, as of the last orderly stop. A
   * resumed run starts from these and adds the requests recorded in the journal.
   */
  readonly unjournalled: Record<string, Record<string, number>>;
  readonly unsupported: Record<string, number>;
  readonly errors: Record<string, number>;
  readonly exclusions?: readonly ExclusionRecord[];
  readonly tags: Record<string, number>;
  readonly drift: Record<string, number>;
  readonly warnings: Record<string, number>;
  /** Message of a warning about rows → the first of them. */
  readonly warned_rows: Record<string, number>;
  /** Set for a retry. */
  readonly retried?: RetriedRows;
  /** Answers taken over from an interrupted run. Set if there was one. */
  readonly tookOver?: number;
  readonly synthetic?: true;
}

/** Counts rows as they are written and requests as they end. */
export class Tally {
  rows = 0;
  /** Rows that were read and not written. */
  skipped = 0;
  requestTotal = 0;
  /** True once the service has answered, whatever the status. */
  answered = false;
  /** Requests that were answered with 429. */
  throttled = 0;
  synthetic = false;
  tookOver: number | null = null;
  readonly statuses = zeros(findingStatuses);
  readonly verdicts = zeros(countedVerdicts);
  /** Lookups with a final record in the journal, by endpoint, and the requests they took. */
  readonly settled = new Map<string, number>();
  settledRequests = 0;
  readonly #kinds = zeros(itemKinds);
  readonly #sources = zeros(["live", "cache", "duplicate", "local"] as const);
  readonly #requests = new Map<string, Counts>();
  readonly #journalled = new Map<string, Counts>();
  #unjournalled: TallySnapshot["unjournalled"] = {};
  readonly #unsupported: Counts;
  readonly #errors: Counts;
  readonly exclusions: ExclusionCounts;
  readonly #tags: Counts;
  readonly #drift: Counts = new Map();
  readonly #warnings: Counts;
  readonly #warnedRows: Counts;
  #retried: RetriedRows | undefined;
  readonly leftOut: LeftOutCounter;

  constructor(from?: TallySnapshot) {
    this.#unsupported = countsFrom(from?.unsupported);
    this.#errors = countsFrom(from?.errors);
    this.exclusions = new ExclusionCounts(from?.exclusions);
    this.#tags = countsFrom(from?.tags);
    this.#warnings = countsFrom(from?.warnings);
    this.#warnedRows = countsFrom(from?.warned_rows);
    this.#retried = from?.retried;
    this.leftOut = new LeftOutCounter(from?.left_out);
    if (from === undefined) return;
    this.rows = from.rows;
    this.synthetic = from.synthetic === true;
    this.skipped = from.skipped ?? 0;
    this.tookOver = from.tookOver ?? null;
    Object.assign(this.statuses, from.statuses);
    Object.assign(this.verdicts, from.verdicts);
    Object.assign(this.#kinds, from.kinds);
    Object.assign(this.#sources, from.sources);
    this.#unjournalled = from.unjournalled;
    for (const [endpoint, outcomes] of Object.entries(from.unjournalled)) {
      for (const [outcome, n] of Object.entries(outcomes)) this.request(endpoint, outcome, n);
    }
  }

  /** Counts a row. @param reason why it is not written */
  row(enriched: EnrichedRow, reason: LeftOutReason | null = null): void {
    const { row, item, finding } = enriched;
    for (const message of rowWarnings(row, item)) this.#warn(message, row);
    if (hasOtherTime(enriched)) this.#warn(otherTimes, row);
    this.rows++;
    this.statuses[finding.status]++;
    if (row.earlier !== undefined) this.#retry(row.earlier.status, finding.status);
    const verdict = verdictOf(finding) ?? "unknown";
    this.verdicts[verdict]++;
    if (reason !== null) this.leftOut.row(reason, finding.status, verdict);
    if (item !== null) {
      this.#kinds[item.kind]++;
      this.#sources[finding.source]++;
    }
    if (finding.error !== null) {
      add(finding.status === "unsupported" ? this.#unsupported : this.#errors, finding.error.code);
    }
    if (finding.error?.code === "excluded") this.exclusions.row(finding.error.message);
    if (isInvented(finding)) this.synthetic = true;
    const tags = finding.answers.query?.result["tags"];
    if (Array.isArray(tags)) {
      for (const tag of tags) if (typeof tag === "string") add(this.#tags, tag);
    }
  }

  #warn(message: string, { number, savedNumber = number }: Row): void {
    this.warning(message);
    const first = this.#warnedRows.get(message) ?? savedNumber;
    this.#warnedRows.set(message, Math.min(first, savedNumber));
  }

  #retry(before: FindingStatus, now: FindingStatus): void {
    this.#retried ??= {};
    if (before !== "failed" && before !== "partial") return;
    const counts = this.#retried[before];
    this.#retried = { ...this.#retried, [before]: { ...counts, [now]: (counts?.[now] ?? 0) + 1 } };
  }

  /** Counts a finished request by HTTP status or transport fault code. */
  request(endpoint: string, outcome: string, n = 1): void {
    add(outcomesOf(this.#requests, endpoint), outcome, n);
    this.requestTotal += n;
    // Called for every request, so test only until the first answer: a number is an HTTP status.
    if (!this.answered) this.answered = /^\d+$/.test(outcome);
    if (outcome === "429") this.throttled += n;
  }

  /** Counts a record that is written to the journal, or replayed from it. */
  journalled(endpoint: string, { origin, drift, again, finding }: LookupRecord): void {
    if (again === null) {
      add(this.settled, endpoint);
      this.settledRequests += finding.attempts;
    }
    for (const outcome of origin?.outcomes ?? []) {
      add(outcomesOf(this.#journalled, endpoint), outcome);
    }
    for (const value of drift) add(this.#drift, value);
  }

  /**
   * Call once every lookup has ended: requests that are not in the journal by now never will be.
   */
  settle(): void {
    const rest: Record<string, Record<string, number>> = {};
    for (const [endpoint, outcomes] of this.#requests) {
      for (const [outcome, n] of outcomes) {
        const missing = n - (this.#journalled.get(endpoint)?.get(outcome) ?? 0);
        if (missing > 0) (rest[endpoint] ??= {})[outcome] = missing;
      }
    }
    this.#unjournalled = rest;
  }

  warning(message: string, n = 1): void {
    add(this.#warnings, message, n);
  }

  snapshot(): TallySnapshot {
    return {
      rows: this.rows,
      ...(this.skipped === 0 ? {} : { skipped: this.skipped }),
      ...(this.leftOut.rows === 0 ? {} : { left_out: this.leftOut.counts() }),
      statuses: { ...this.statuses },
      verdicts: { ...this.verdicts },
      kinds: { ...this.#kinds },
      sources: { ...this.#sources },
      requests: Object.fromEntries(
        // Sort by name: the order of first answers differs from run to run.
        [...this.#requests]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([endpoint, outcomes]) => [endpoint, requestCounts(outcomes)]),
      ),
      unsupported: mostFrequentFirst(this.#unsupported),
      errors: mostFrequentFirst(this.#errors),
      ...this.exclusions.snapshot(),
      unjournalled: this.#unjournalled,
      tags: mostFrequentFirst(this.#tags),
      drift: mostFrequentFirst(this.#drift),
      warnings: mostFrequentFirst(this.#warnings),
      warned_rows: Object.fromEntries(this.#warnedRows),
      ...(this.#retried === undefined ? {} : { retried: this.#retried }),
      ...(this.tookOver === null ? {} : { tookOver: this.tookOver }),
      ...(this.synthetic ? { synthetic: true } : {}),
    };
  }
}

function isInvented({ answers }: Finding): boolean {
  return lookupEndpoints.some((endpoint) => answers[endpoint]?.synthetic === true);
}

function outcomesOf(requests: Map<string, Counts>, endpoint: string): Counts {
  const outcomes: Counts = requests.get(endpoint) ?? new Map();
  requests.set(endpoint, outcomes);
  return outcomes;
}

function add(counts: Counts, name: string, n = 1): void {
  const counted = counts.size < maxNames || counts.has(name) ? name : otherNames;
  counts.set(counted, (counts.get(counted) ?? 0) + n);
}

function countsFrom(from: Readonly<Record<string, number>> = {}): Counts {
  return new Map(Object.entries(from));
}

/** Most frequent first. `fromEntries` makes a name such as `__proto__` an ordinary member. */
export function mostFrequentFirst(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

function requestCounts(counts: Counts): TallySnapshot["requests"][string] {
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  return { total, outcomes: mostFrequentFirst(counts) };
}
