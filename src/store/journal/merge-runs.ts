import { setImmediate as turn } from "node:timers/promises";
import type { IndexRun } from "./index-run.js";

/** Pairs that are read and written at once; what else is to be done goes first in between. */
const chunkPairs = 4096;

/**
 * Writes what several runs have into one; of a hash that several have, the number of the last of
 * them.
 *
 * @param runs in the order in which they were written, 2^8 at most
 * @param into an empty one
 * @param signal ends it early
 * @throws what the file system says; the signal's reason
 */
export async function mergeRuns(
  runs: readonly IndexRun[],
  into: IndexRun,
  signal: AbortSignal,
): Promise<void> {
  const readers = runs.map((run) => new RunReader(run));
  const merged = new Uint32Array(2 * chunkPairs);
  let count = 0;
  for (;;) {
    const newest = leastOf(readers);
    if (newest === null) break;
    const { hash } = newest;
    merged[2 * count] = hash;
    merged[2 * count + 1] = newest.number;
    for (const reader of readers) if (reader.hash === hash) reader.advance();
    if (++count < chunkPairs) continue;
    into.append(merged);
    count = 0;
    await turn();
    signal.throwIfAborted();
  }
  into.append(merged.subarray(0, 2 * count));
}

/** The reader with the least hash, the last of several; null when all are at their end. */
function leastOf(readers: readonly RunReader[]): RunReader | null {
  let least: RunReader | null = null;
  for (const reader of readers) {
    if (reader.hash <= (least?.hash ?? beyond) && reader.hash < beyond) least = reader;
  }
  return least;
}

/** More than any hash. */
const beyond = 2 ** 32;

/** A run's pairs one after the other. */
class RunReader {
  /** Of the pair that it is at; more than any hash at the end. */
  hash = beyond;
  number = 0;
  readonly #run: IndexRun;
  readonly #pairs = new Uint32Array(2 * chunkPairs);
  #read = 0;
  #count = 0;
  #at = 0;

  constructor(run: IndexRun) {
    this.#run = run;
    this.advance();
  }

  advance(): void {
    if (this.#at === this.#count) {
      this.#count = this.#run.read(this.#read, this.#pairs);
      this.#read += this.#count;
      this.#at = 0;
    }
    if (this.#count === 0) {
      this.hash = beyond;
      return;
    }
    this.hash = this.#pairs[2 * this.#at] as number;
    this.number = this.#pairs[2 * this.#at + 1] as number;
    this.#at++;
  }
}
