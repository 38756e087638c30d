import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BloomFilter } from "./bloom-filter.js";
import { HashTable } from "./hash-table.js";
import { IndexRun } from "./index-run.js";
import { mergeRuns } from "./merge-runs.js";
import { PairSorter } from "./pair-sorter.js";

export interface PlaceIndexOptions {
  /** Entries kept in memory before they move into a file, at most 2^20. Default 114,688. */
  readonly recentLimit?: number;
  /** Bytes of the filter, a power of two. Default 8 MiB. */
  readonly filterBytes?: number;
}

/** So many runs of one level become one of the next. */
const fanIn = 8;

/** Runs, and how many merges they have behind them. */
interface LeveledRun {
  readonly run: IndexRun;
  readonly level: number;
}

/**
 * Finds the newest record of a key's hash: from 32-bit hash to place.
 *
 * What was added last is in memory. When that is full it is sorted and becomes a file, a run; eight
 * runs become one, beside what else is done. A Bloom filter spares the files the many questions for
 * what they do not have. Memory is fixed, but for a hundredth of a byte a record.
 *
 * The files are of use to this process alone: `add` brings back what earlier sessions had.
 */
export class PlaceIndex {
  readonly #folder: string;
  readonly #filter: BloomFilter;
  readonly #recentLimit: number;
  readonly #recent: HashTable;
  readonly #sorter: PairSorter;
  /** In the order of their age, the newest last. */
  #runs: readonly LeveledRun[] = [];
  #made = 0;
  #merging: Promise<void> | null = null;
  readonly #end = new AbortController();

  /** @param folder has the files; those of an earlier session are removed */
  constructor(folder: string, options: PlaceIndexOptions = {}) {
    this.#folder = folder;
    this.#filter = new BloomFilter(options.filterBytes ?? 8 * 1024 * 1024);
    this.#recentLimit = options.recentLimit ?? 114_688;
    this.#recent = new HashTable(this.#recentLimit);
    this.#sorter = new PairSorter(this.#recentLimit);
    for (const name of readdirSync(folder)) {
      if (name.startsWith(prefix)) rmSync(join(folder, name), { force: true, recursive: true });
    }
  }

  /** False: no record has this hash. */
  mayHave(hash: number): boolean {
    return this.#filter.mayHave(hash);
  }

  /** Place of the newest record with this hash; 0 for none. @throws what the file system says */
  find(hash: number): number {
    const recent = this.#recent.get(hash);
    if (recent > 0) return recent;
    for (let at = this.#runs.length - 1; at >= 0; at--) {
      const place = (this.#runs[at] as LeveledRun).run.find(hash);
      if (place > 0) return place;
    }
    return 0;
  }

  /** Notes a record, in ascending order of the places. @throws what the file system says */
  add(hash: number, place: number): void {
    this.#filter.add(hash);
    this.#recent.set(hash, place);
    if (this.#recent.size >= this.#recentLimit) this.#spill();
  }

  /** Lets go of the files and removes them. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#merging;
    for (const { run } of this.#runs) run.remove();
    this.#runs = [];
  }

  #spill(): void {
    const run = this.#newRun(this.#recent.size);
    try {
      run.append(this.#sorter.sort(this.#recent));
    } catch (error) {
      run.remove();
      throw error;
    }
    this.#runs = [...this.#runs, { run, level: 0 }];
    this.#recent.clear();
    if (firstOfMany(this.#runs) < 0) return;
    this.#merging ??= this.#merge().finally(() => (this.#merging = null));
  }

  #newRun(most: number): IndexRun {
    return new IndexRun(join(this.#folder, `${prefix}${++this.#made}`), most);
  }

  /** Merges runs as long as there are enough of a level. Never rejects. */
  async #merge(): Promise<void> {
    for (;;) {
      const from = firstOfMany(this.#runs);
      if (from < 0) return;
      const parts = this.#runs.slice(from, from + fanIn);
      const run = await this.#merged(parts.map((part) => part.run));
      if (run === null) return;
      const level = (parts[0] as LeveledRun).level + 1;
      this.#runs = this.#runs.toSpliced(from, fanIn, { run, level });
      for (const part of parts) part.run.remove();
    }
  }

  /** Null where it cannot be done, which costs time only: the parts answer as before. */
  async #merged(parts: readonly IndexRun[]): Promise<IndexRun | null> {
    let run: IndexRun | null = null;
    try {
      run = this.#newRun(parts.reduce((sum, { size }) => sum + size, 0));
      await mergeRuns(parts, run, this.#end.signal);
      return run;
    } catch {
      run?.remove();
      return null;
    }
  }
}

const prefix = "index-";

/** Where the first `fanIn` runs of one level begin; -1 for none. */
function firstOfMany(runs: readonly LeveledRun[]): number {
  return runs.findIndex(({ level }, at) => runs[at + fanIn - 1]?.level === level);
}
