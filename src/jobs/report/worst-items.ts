import { createHash } from "node:crypto";
import { verdicts } from "../../core/finding.js";
import type { Offender, Report } from "./types.js";

const shown = 100;

/** Distinct items that are counted exactly; beyond, the report says "more than". */
const mostItems = 100_000;

type Entry = { -readonly [Member in keyof Offender]: Offender[Member] };

export class WorstItems {
  readonly #entries = new Map<string, Entry>();
  readonly #items = new Set<string>();
  /** The best of those kept when the list was last cut; what is no worse than it need not be kept. */
  #threshold: Rank | null = null;
  #itemsAreMore = false;

  add(rank: Rank, describe: () => Omit<Offender, "rows" | keyof Rank>): void {
    const key = keyOf(rank);
    if (this.#items.size < mostItems) this.#items.add(key);
    else if (!this.#items.has(key)) this.#itemsAreMore = true;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.rows += 1;
      return;
    }
    if (this.#threshold !== null && worseFirst(rank, this.#threshold) >= 0) return;
    this.#entries.set(key, { ...rank, ...describe(), rows: 1 });
    if (this.#entries.size >= 4 * shown) this.#cut();
  }

  worst(): Report["offenders"] {
    this.#cut();
    return {
      worst: [...this.#entries.values()],
      items: this.#items.size,
      itemsAreMore: this.#itemsAreMore,
    };
  }

  #cut(): void {
    const sorted = [...this.#entries].sort(([, a], [, b]) => worseFirst(a, b));
    this.#entries.clear();
    for (const [key, entry] of sorted.slice(0, shown)) this.#entries.set(key, entry);
    if (sorted.length >= shown) this.#threshold = sorted[shown - 1]![1];
  }
}

/** What decides on an item's place; the same in each of its rows. */
type Rank = Pick<Offender, "kind" | "item" | "verdict" | "observations" | "lastSeen">;

/** Gravest verdict first, then most observations, then last seen most recently. */
function worseFirst(a: Rank, b: Rank): number {
  return (
    verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict) ||
    b.observations - a.observations ||
    compare(b.lastSeen, a.lastSeen) ||
    compare(a.item, b.item)
  );
}

/** Items of any length take little memory. */
function keyOf({ kind, item }: Rank): string {
  const key = `${kind} ${item}`;
  return key.length <= longestKey ? key : createHash("sha256").update(key).digest("base64");
}

const longestKey = 100;

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
