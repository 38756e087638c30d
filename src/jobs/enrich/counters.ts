import { resolve } from "node:path";
import { type ExclusionList, excludedMessage } from "../../core/exclusions/exclusion-list.js";
import type { ExclusionRecord, Manifest } from "../../core/manifest.js";
import type { MadeUp } from "../../core/finding.js";
import { formatCount } from "../../core/wording/quantity.js";

/** Counts by a name that the data brings. */
export type Counts = Map<string, number>;

/** Maximum number of distinct names per counter; further ones are counted under `otherNames`. */
const maxNames = 10_000;

/** Name under which a counter sums up the names beyond its maximum. */
export const otherNames = "(others)";

export function addCount(counts: Counts, name: string, n = 1): void {
  const counted = counts.size < maxNames || counts.has(name) ? name : otherNames;
  counts.set(counted, (counts.get(counted) ?? 0) + n);
}

/** Most frequent first. `fromEntries` makes a name such as `__proto__` an ordinary member. */
export function mostFrequentFirst(counts: Counts): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

/** Rows that each exclusion list of a run held back. */
export class ExclusionCounts {
  /** By the message of their rows. */
  readonly #lists: Map<string, ExclusionRecord & { rows: number }>;

  constructor(lists: readonly ExclusionRecord[] = []) {
    this.#lists = new Map(lists.map((list) => [excludedMessage(list.path), { ...list }]));
  }

  /** Names the lists of the run. Those that are counted already, however spelled, keep their counts. */
  name(lists: readonly ExclusionList[]): void {
    for (const { path, entries, sha256 } of lists) {
      const known = [...this.#lists].find(([, list]) => resolve(list.path) === resolve(path));
      if (known !== undefined) this.#lists.delete(known[0]);
      const rows = known?.[1].rows ?? 0;
      this.#lists.set(excludedMessage(path), { path, entries, sha256, rows });
    }
  }

  /** Counts a row that a list held back, now or in the run that is retried. */
  row(message: string): void {
    const list = this.#lists.get(message);
    if (list !== undefined) list.rows++;
  }

  /** In the order of the lists; nothing for a run without any. */
  snapshot(): { readonly exclusions?: readonly ExclusionRecord[] } {
    return this.#lists.size === 0 ? {} : { exclusions: structuredClone([...this.#lists.values()]) };
  }
}

/** Most services are real: then those of the embedded one are left out. */
export function sourceCounts(sources: Readonly<Record<string, number>>): Manifest["sources"] {
  const shown = ([name, n]: readonly [string, number]): boolean =>
    n > 0 || !["sample", "invented"].includes(name);
  return Object.fromEntries(Object.entries(sources).filter(shown));
}

export function madeUpMembers(madeUp: MadeUp | undefined): Pick<Manifest, "synthetic" | "sample"> {
  if (madeUp === undefined) return {};
  return madeUp === "invented" ? { synthetic: true } : { sample: true };
}

/** Counted for each row with such a time. */
export const otherTimes =
  "row with a time that is not RFC 3339: CSV, TSV and NDJSON keep it, other outputs leave it out";

/** Counted for each row or result with such an answer. */
export const otherWords =
  "answer with an intent or mail blocklist status that the interface does not list: it accuses nobody, and keeps the verdict from being none";

/** Message → number of times, and → first row. */
interface WarningCounts {
  readonly warnings: Readonly<Record<string, number>>;
  readonly warned_rows: Readonly<Record<string, number>>;
}

/** The warnings about values of answers that the interface does not list. */
export function valueWarnings({ warnings, warned_rows }: WarningCounts): readonly string[] {
  return [otherTimes, otherWords].flatMap((message) => {
    const rows = warnings[message];
    return rows === undefined ? [] : [countedWarning(message, rows, warned_rows[message])];
  });
}

/** A warning with the number of times it applies, and the first row. */
export function countedWarning(message: string, count: number, row?: number): string {
  const facts = [
    ...(count > 1 ? [`${formatCount(count)} times`] : []),
    ...(row === undefined ? [] : [`${count > 1 ? "first in row" : "row"} ${formatCount(row)}`]),
  ];
  return facts.length === 0 ? message : `${message} (${facts.join(", ")})`;
}

export type CountedWarning = readonly [message: string, count: number];
