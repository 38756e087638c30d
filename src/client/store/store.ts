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
  /** Makes earlier puts visible to other processes. */
  sync(): void;
  close(): void;
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
    const [oldest = key] = this.#values.keys();
    if (this.#values.size > this.#most) this.#values.delete(oldest);
  }
}

/** Additions that are stored together, and how long they wait for each other, in milliseconds. */
const together = { additions: 256, ms: 20 };

/** Stores 256 additions, or those of 20 ms, at once. A kill costs no more of them. */
export class Batch {
  readonly #store: () => void;
  #size = 0;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = 0;

  constructor(store: () => void) {
    this.#store = store;
  }

  added(): void {
    this.#size++;
    if (this.#size === 1) {
      this.#dueAt = performance.now() + together.ms;
      this.#timer = setTimeout(() => this.flush(), together.ms);
    }
    // A busy event loop calls timers late.
    if (this.#size >= together.additions || performance.now() >= this.#dueAt) this.flush();
  }

  /** Stores what was added. */
  flush(): void {
    clearTimeout(this.#timer);
    const size = this.#size;
    this.#size = 0;
    if (size > 0) this.#store();
  }
}
