import { type LeftOutCounts, type Manifest, madeUpOf } from "../../core/manifest.js";
import { hasOtherTime } from "../../core/columns.js";
import {
  findingSources,
  type MadeUp,
  countedVerdicts,
  type FindingStatus,
  findingStatuses,
  firstAnswer,
  type VerdictCounts,
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
import {
  otherTimes,
  otherWords,
  addCount,
  addCounts,
  type Counts,
  ExclusionCounts,
  madeUpMembers,
  mostFrequentFirst,
  sourceCounts,
} from "./counters.js";
import { Elsewhere } from "./elsewhere.js";

interface RequestSnapshot extends Pick<Manifest, "requests" | "drift"> {
  /**
   * Requests of lookups that ended without a finding in the journal, as of the last orderly stop. A
   * resumed run starts from these and adds the requests recorded in the journal.
   */
  readonly unjournalled: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Counts requests as they end. */
class RequestTally {
  requestTotal = 0;
  /** True once the service has answered, whatever the status. */
  answered = false;
  /** Requests that were answered with 429. */
  throttled = 0;
  protected readonly drift: Counts = new Map();
  readonly #requests = new Map<string, Counts>();
  readonly #journalled = new Map<string, Counts>();
  #unjournalled: RequestSnapshot["unjournalled"];

  constructor(unjournalled: RequestSnapshot["unjournalled"] = {}) {
    this.#unjournalled = unjournalled;
    for (const [endpoint, outcomes] of Object.entries(unjournalled)) {
      this.requestsTo(endpoint, outcomes);
    }
  }

  requestsTo(endpoint: string, outcomes: Readonly<Record<string, number>>): void {
    for (const [outcome, n] of Object.entries(outcomes)) this.request(endpoint, outcome, n);
  }

  /** Counts a finished request by HTTP status or transport fault code. */
  request(endpoint: string, outcome: string, n = 1): void {
    addCount(outcomesOf(this.#requests, endpoint), outcome, n);
    this.requestTotal += n;
    // Called for every request, so test only until the first answer: a number is an HTTP status.
    if (!this.answered) this.answered = /^\d+$/.test(outcome);
    if (outcome === "429") this.throttled += n;
  }

  /** Counts a record that is written to the journal, or replayed from it. */
  journalled(endpoint: string, { origin, drift }: Pick<LookupRecord, "origin" | "drift">): void {
    for (const outcome of origin?.outcomes ?? []) {
      addCount(outcomesOf(this.#journalled, endpoint), outcome);
    }
    for (const value of drift) addCount(this.drift, value);
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

  protected requestCounts(): RequestSnapshot {
    return {
      requests: Object.fromEntries(
        // Sort by name: the order of first answers differs from run to run.
        [...this.#requests]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([endpoint, outcomes]) => [endpoint, countsTo(outcomes)]),
      ),
      drift: mostFrequentFirst(this.drift),
      unjournalled: this.#unjournalled,
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

/** What is counted by a name that the data brings. */
const named = ["unsupported", "errors", "tags", "warnings"] as const;

function eachNamed<T>(of: (name: (typeof named)[number]) => T) {
  return Object.fromEntries(named.map((name) => [name, of(name)])) as Record<
    (typeof named)[number],
    T
  >;
}

/** The counts of a run, as its manifest has them. */
type RunCounts = Pick<
  Manifest,
  | (typeof named)[number]
  | "statuses"
  | "verdicts"
  | "kinds"
  | "sources"
  | "requests"
  | "drift"
  | "retried"
  | "took_over"
  | "elsewhere"
  | "inside_cells"
  | "exclusions"
  | "warned_rows"
  | "earlier_rows"
  | "first_broken"
  | "synthetic"
  | "sample"
>;

/** The counts of a run as plain JSON, stored in checkpoints. */
export interface TallySnapshot extends RunCounts, Pick<RequestSnapshot, "unjournalled"> {
  readonly rows: number;
  /** Rows that are counted and not written. */
  readonly left_out: LeftOutCounts;
  /** Rows that were read and not written; absent for none. */
}

/** The counts of a run whose rows are written again. */
export function withoutRows({ unjournalled, took_over, ...run }: TallySnapshot): TallySnapshot {
  return {
    ...new Tally().snapshot(),
    unjournalled,
    ...(took_over === undefined ? {} : { took_over }),
    ...madeUpMembers(madeUpOf(run)),
  };
}

/** Counts rows as they are written and requests as they end. */
export class Tally extends RequestTally {
  rows = 0;
  /** Rows that were read and not written. */
  /** How its answers are made up; undefined if they are those of a real service. */
  #madeUp: MadeUp | undefined;
  /** Answers taken over from an interrupted run; null if there was none. */
  tookOver: number | null = null;
  /** Rows of the earlier output; null for none. */
  earlierRows: number | null = null;
  /** What is wrong with the first broken line; null for none. */
  #firstBroken: string | null = null;
  readonly statuses = zeros(findingStatuses);
  readonly verdicts = zeros(countedVerdicts);
  /** Rows that are counted and not written. */
  readonly leftOut = {
    reasons: zeros(leftOutReasons),
    statuses: zeros(findingStatuses),
    verdicts: zeros(countedVerdicts),
  };
  readonly exclusions = new ExclusionCounts();
  readonly elsewhere = new Elsewhere();
  readonly #kinds = zeros(itemKinds);
  readonly #sources = zeros(findingSources);
  readonly #named = eachNamed((): Counts => new Map());
  readonly #warnedRows: Counts = new Map();
  #retried: Manifest["retried"];

  /** @param from the counts of the run so far. Its journal has the other requests, and the drift */
  constructor(from?: TallySnapshot) {
    super(from?.unjournalled);
    if (from !== undefined) this.add({ ...from, requests: {}, drift: {} });
  }

  /** Adds the counts of a part of the run. */
  add(part: RunCounts & Pick<Manifest, "left_out"> & { readonly rows: number }): void {
    this.rows += part.rows;
    this.hasMadeUp(madeUpOf(part));
    if (part.took_over !== undefined) this.tookOver = (this.tookOver ?? 0) + part.took_over;
    this.earlierRows = part.earlier_rows ?? this.earlierRows;
    this.#firstBroken ??= part.first_broken ?? null;
    this.#retried = part.retried ?? this.#retried;
    addCounts(this.statuses, part.statuses);
    addCounts(this.verdicts, part.verdicts);
    addCounts(this.#kinds, part.kinds);
    for (const source of findingSources) this.#sources[source] += part.sources[source] ?? 0;
    if (part.left_out !== undefined) {
      addCounts(this.leftOut.reasons, part.left_out);
      addCounts(this.leftOut.statuses, part.left_out.statuses);
      addCounts(this.leftOut.verdicts, part.left_out.verdicts);
    }
    this.exclusions.add(part.exclusions);
    this.elsewhere.add(part);
    for (const [value, n] of Object.entries(part.drift)) addCount(this.drift, value, n);
    for (const [endpoint, { outcomes }] of Object.entries(part.requests)) {
      this.requestsTo(endpoint, outcomes);
    }
    for (const each of named) {
      for (const [name, n] of Object.entries(part[each])) addCount(this.#named[each], name, n);
    }
    for (const [message, row] of Object.entries(part.warned_rows)) this.#warnedAt(message, row);
  }

  /** Counts a row. @param reason why it is not written */
  row(enriched: EnrichedRow, reason: LeftOutReason | null = null): void {
    const { row, item, finding } = enriched;
    for (const message of rowWarnings(row, item)) this.#warn(message, row);
    if (hasOtherTime(enriched)) this.#warn(otherTimes, row);
    this.elsewhere.note(row, item);
    this.rows++;
    this.statuses[finding.status]++;
    if (row.fault !== null)
      this.#firstBroken ??= (row.file === undefined ? "" : `${row.file}: `) + row.fault.message;
    if (row.before !== undefined) this.#retry(row.before.status, finding.status);
    const verdict = verdictOf(finding) ?? "unknown";
    this.verdicts[verdict]++;
    // No verdict is `none` with such a word.
    if (verdict !== "none" && finding !== row.before && hasOtherWord(finding))
      this.#warn(otherWords, row);
    if (reason !== null) this.leave(reason, finding.status, verdict);
    if (item !== null) {
      this.#kinds[item.kind]++;
      this.#sources[finding.source]++;
    }
    if (finding.error !== null) {
      const { code, message } = finding.error;
      addCount(this.#named[finding.status === "unsupported" ? "unsupported" : "errors"], code);
      if (code === "excluded") this.exclusions.row(message);
    }
    this.hasMadeUp(firstAnswer(finding)?.madeUp);
    const tags = finding.answers.query?.result["tags"];
    if (Array.isArray(tags)) {
      for (const tag of tags) if (typeof tag === "string") addCount(this.#named.tags, tag);
    }
  }

  /** Notes that there are such answers. */
  hasMadeUp(how: MadeUp | undefined): void {
    if (how !== undefined && this.#madeUp !== "invented") this.#madeUp = how;
  }

  /** Counts a row, counted already, as one that is not written. */
  leave(reason: LeftOutReason, status: FindingStatus, verdict: keyof VerdictCounts): void {
    this.leftOut.reasons[reason]++;
    this.leftOut.statuses[status]++;
    this.leftOut.verdicts[verdict]++;
  }

  /** Rows that are in the output. */
  get written(): number {
    const { distinct, only } = this.leftOut.reasons;
    return this.rows - distinct - only;
  }

  #warn(message: string, { number }: Row): void {
    this.warning(message);
    this.#warnedAt(message, number);
  }

  #warnedAt(message: string, row: number): void {
    this.#warnedRows.set(message, Math.min(row, this.#warnedRows.get(message) ?? row));
  }

  #retry(before: FindingStatus, now: FindingStatus): void {
    this.#retried ??= {};
    if (before !== "failed" && before !== "partial") return;
    const counts = this.#retried[before];
    this.#retried = { ...this.#retried, [before]: { ...counts, [now]: (counts?.[now] ?? 0) + 1 } };
  }

  warning(message: string, n = 1): void {
    addCount(this.#named.warnings, message, n);
  }

  snapshot(): TallySnapshot {
    const { reasons, statuses, verdicts } = this.leftOut;
    const leftOut = { ...reasons, statuses: { ...statuses }, verdicts: { ...verdicts } };
    return {
      rows: this.rows,
      left_out: leftOut,
      statuses: { ...this.statuses },
      verdicts: { ...this.verdicts },
      kinds: { ...this.#kinds },
      sources: sourceCounts(this.#sources),
      ...this.requestCounts(),
      ...eachNamed((name) => mostFrequentFirst(this.#named[name])),
      ...this.elsewhere.snapshot(),
      ...this.exclusions.snapshot(),
      warned_rows: Object.fromEntries(this.#warnedRows),
      ...(this.#retried === undefined ? {} : { retried: this.#retried }),
      ...(this.tookOver === null ? {} : { took_over: this.tookOver }),
      ...(this.earlierRows === null ? {} : { earlier_rows: this.earlierRows }),
      ...(this.#firstBroken === null ? {} : { first_broken: this.#firstBroken }),
      ...madeUpMembers(this.#madeUp),
    };
  }
}
