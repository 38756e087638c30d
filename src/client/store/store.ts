import type { Finding, LookupRecord } from "../../core/finding.js";

/**
 * Keeps lookup results for the length of a run or longer. A key names one endpoint and one item;
 * lookups with equal keys have equal results.
 */
export interface Store<Value> {
  /**
   * The value stored under `key`, or null. Local stores return it without a promise where they can,
   * which keeps promises off the hot path.
   */
  get(key: string): Value | null | Promise<Value | null>;
  /**
   * Stores a value, which survives the death of the process (SIGKILL included) within 50 ms.
   * @throws FatalError when it cannot be stored (disk full, folder gone); the run cannot continue
   */
  put(key: string, value: Value): Promise<void>;
  /** Resolves once earlier puts survive the death of the process, and a run's a power loss. */
  sync(): Promise<void>;
  /** Closes the store's files. Stored values remain. */
  close(): Promise<void>;
}

/** Lookups of one run: its journal, or a store in memory. */
export type LookupStore = Store<LookupRecord>;

/** Findings that outlive the run: the cache. What it cannot store is asked again. */
export interface FindingStore {
  get(key: string): Finding | null;
  /** Stores a finding within 50 ms. */
  put(key: string, finding: Finding): void;
  /** Resolves once earlier puts are visible to other processes. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps values in memory, for the life of the process. */
export class MemoryStore<Value = LookupRecord> implements Store<Value> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;

  /** @param options `most`: how many values are kept, the newest ones. Default: all */
  constructor({ most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {}) {
    this.#most = most;
  }

  get(key: string): Value | null {
    return this.#values.get(key) ?? null;
  }

  put(key: string, value: Value): Promise<void> {
    this.#values.set(key, value);
    if (this.#values.size > this.#most) {
      for (const oldest of this.#values.keys()) {
        this.#values.delete(oldest);
        break;
      }
    }
    return Promise.resolve();
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
