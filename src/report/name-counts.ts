import { longestName } from "./cut-text.js";
import type { TopCounts } from "./types.js";

/** Names told apart at most: 65,536 of up to 120 characters take about 16 MB. */
export const mostNames = 65_536;

/** Counts by name in bounded memory: once full, it counts the names it knows and the rest as one. */
export class NameCounts {
  readonly #counts = new Map<string, number>();
  #uncounted = 0;

  add(name: string): void {
    const key = name.length > longestName ? `${name.slice(0, longestName)}…` : name;
    const count = this.#counts.get(key);
    if (count !== undefined) this.#counts.set(key, count + 1);
    else if (this.#counts.size < mostNames) this.#counts.set(key, 1);
    else this.#uncounted += 1;
  }

  /** The most frequent names; equal counts by name. */
  top(length: number): TopCounts {
    const entries = Array.from(this.#counts, ([name, count]) => ({ name, count }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
      .slice(0, length);
    return { entries, distinct: this.#counts.size, uncounted: this.#uncounted };
  }
}
