import type { Finding, LookupRecord } from "../../core/finding.js";

/** Keeps answers. A key names one endpoint and one item; lookups with equal keys have equal results. */
interface AnswerStore<Value> {
  get(key: string): Value | null;
  put(key: string, value: Value): void;
}

/**
 * Keeps the lookups of one run: its journal, or a store in memory. What is put survives the death of the
 * process (SIGKILL included) 50 ms later. Both methods throw a FatalError if the run cannot continue
 * (disk full, folder gone).
 */
export type LookupStore = AnswerStore<LookupRecord>;

/** Findings that outlive the run: the cache. What it cannot store is asked again. */
export interface FindingStore extends AnswerStore<Finding> {
  /** Resolves once earlier puts are visible to other processes. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps values in memory, for the life of the process: all of them, or the newest. */
export class MemoryStore<Value = LookupRecord> implements AnswerStore<Value> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;

  constructor({ most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {}) {
    this.#most = most;
  }

  get(key: string): Value | null {
    return this.#values.get(key) ?? null;
  }

  put(key: string, value: Value): void {
    this.#values.set(key, value);
    if (this.#values.size <= this.#most) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      break;
    }
  }
}

/** Values that are written together, and how long they wait for each other, in milliseconds. */
const together = { values: 256, ms: 20 };

/** Collects values and writes 256 of them, or those of 20 ms, at once. A kill costs no more of them. */
export class Batch<Value> {
  /** Those that wait to be written. */
  readonly waiting = new Map<string, Value>();
  readonly #write: (values: ReadonlyMap<string, Value>) => boolean;
  #timer: NodeJS.Timeout | null = null;
  #dueAt = 0;
  #isRetry = false;

  /** @param write returns false if the same values are to be written again later */
  constructor(write: (values: ReadonlyMap<string, Value>) => boolean) {
    this.#write = write;
  }

  put(key: string, value: Value): void {
    this.waiting.set(key, value);
    if (this.#timer === null) this.#wait();
    const isFull = this.waiting.size >= together.values && !this.#isRetry;
    // A busy event loop calls timers late.
    if (isFull || performance.now() >= this.#dueAt) this.flush();
  }

  /** Writes what waits. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.waiting.size === 0) return;
    this.#isRetry = !this.#write(this.waiting);
    if (this.#isRetry) this.#wait();
    else this.waiting.clear();
  }

  #wait(): void {
    this.#dueAt = performance.now() + together.ms;
    this.#timer = setTimeout(() => this.flush(), together.ms);
  }
}
