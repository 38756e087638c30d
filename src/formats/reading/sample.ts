import type { Clock } from "../../core/clock.js";
import { limits } from "./limits.js";

/** Notices when a stream brings nothing for a while, so that a live one is not waited for. */
export class Pauses {
  readonly #clock: Clock;
  #until: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when a pause comes before what is awaited; false when that comes, or fails, first. */
  async before(awaited: Promise<unknown>): Promise<boolean> {
    const now = this.#clock.monotonic();
    this.#until ??= now + limits.sampleMs;
    const over = new AbortController();
    const ms = Math.min(limits.pauseMs, this.#until - now);
    const come = (): boolean => false;
    const pause = this.#clock.sleep(ms, over.signal).then(() => true, come);
    try {
      return await Promise.race([awaited.then(come, come), pause]);
    } finally {
      over.abort();
    }
  }
}

/** The first bytes of an input, and all of its chunks again, the peeked ones included. */
interface Peeked {
  readonly head: Buffer;
  readonly chunks: AsyncGenerator<Buffer>;
}

/**
 * Reads chunks until `enough` says so or the input ends. Never reads on for more than it needs:
 * behind the input may be a person or a `tail -f`.
 *
 * @param pauses when given, a pause of the input ends it as well, once a line is complete
 */
export async function peek(
  chunks: AsyncGenerator<Buffer>,
  enough: (head: Buffer) => boolean,
  pauses: Pauses | null = null,
): Promise<Peeked> {
  let head: Buffer = Buffer.alloc(0);
  while (!enough(head)) {
    const next = chunks.next();
    if (pauses !== null && head.includes("\n") && (await pauses.before(next))) {
      return { head, chunks: replay(head, next, chunks) };
    }
    const step = await next;
    if (step.done === true) break;
    head = head.length === 0 ? step.value : Buffer.concat([head, step.value]);
  }
  return { head, chunks: replay(head, null, chunks) };
}

async function* replay(
  head: Buffer,
  pending: Promise<IteratorResult<Buffer>> | null,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  const step = await pending;
  if (step !== null && step.done !== true) yield step.value;
  yield* rest;
}

/** Reads batches ahead, to see what is in them, and gives all of them again. */
export class Sample<T> {
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

  /** True when nothing is left behind what was read. */
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
