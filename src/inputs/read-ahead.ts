import type { Pauses } from "./pauses.js";

/** Reads batches ahead, to see what is in them, and gives all of them again. */
export class ReadAhead<T> {
  readonly #batches: AsyncGenerator<readonly T[]>;
  readonly #pauses: Pauses | null;
  readonly #read: T[] = [];
  #next: Promise<IteratorResult<readonly T[]>> | null = null;
  #ended = false;

  constructor(batches: AsyncGenerator<readonly T[]>, pauses: Pauses | null) {
    this.#batches = batches;
    this.#pauses = pauses;
  }

  /** What was read so far. */
  get read(): readonly T[] {
    return this.#read;
  }

  /** True when there is nothing behind what was read. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Reads on until `enough` says so or the input ends.
   *
   * @param enoughInPause asked when the input pauses: what is there may be enough then
   */
  async until(enough: () => boolean, enoughInPause: () => boolean = () => false): Promise<void> {
    while (!this.#ended && !enough()) {
      this.#next ??= this.#batches.next();
      if ((await this.#pauses?.before(this.#next)) === true && enoughInPause()) return;
      const step = await this.#next;
      this.#next = null;
      if (step.done === true) this.#ended = true;
      else for (const value of step.value) this.#read.push(value);
    }
  }

  /** Everything but the first `skipped`, and what follows. */
  async *all(skipped = 0): AsyncGenerator<readonly T[]> {
    const read = this.#read.splice(0).slice(skipped);
    if (read.length > 0) yield read;
    const step = await this.#next;
    if (step !== null && step.done !== true) yield step.value;
    yield* this.#batches;
  }
}
