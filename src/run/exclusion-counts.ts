import { resolve } from "node:path";
import { type ExclusionList, excludedMessage } from "../core/exclusions/exclusion-list.js";
import type { ExclusionRecord } from "../core/manifest/manifest.js";

/** Rows that each exclusion list of a run held back. */
export class ExclusionCounts {
  /** By the message of their rows. */
  readonly #lists = new Map<string, ExclusionRecord>();

  /** @param from the counts so far */
  constructor(from: readonly ExclusionRecord[] = []) {
    for (const list of from) this.#lists.set(excludedMessage(list.path), list);
  }

  /** Names the lists of the run. Those that are counted already, however spelled, keep their counts. */
  add(lists: readonly ExclusionList[]): void {
    for (const { path, entries, sha256 } of lists) {
      const counted = [...this.#lists].find(([, list]) => resolve(list.path) === resolve(path));
      if (counted !== undefined) this.#lists.delete(counted[0]);
      const rows = counted?.[1].rows ?? 0;
      this.#lists.set(excludedMessage(path), { path, entries, sha256, rows });
    }
  }

  /** Counts a row that a list held back, now or in the run that is retried. */
  row(message: string): void {
    const list = this.#lists.get(message);
    if (list !== undefined) this.#lists.set(message, { ...list, rows: list.rows + 1 });
  }

  /** In the order of the lists; nothing for a run without any. */
  snapshot(): { readonly exclusions?: readonly ExclusionRecord[] } {
    return this.#lists.size === 0 ? {} : { exclusions: [...this.#lists.values()] };
  }
}
