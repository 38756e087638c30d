import type { Finding, LookupRecord } from "../../core/finding.js";

/**
 * Keeps the lookups of one run: its journal, or a store in memory. A key names one endpoint and one item;
 * lookups with equal keys have equal results.
 */
export interface LookupStore {
  /** Returns what is stored under `key` without a promise where possible: promises cost on the hot path. */
  get(key: string): LookupRecord | null | Promise<LookupRecord | null>;
  /**
   * Stores a record, which survives the death of the process (SIGKILL included) within 50 ms.
   *
   * @throws FatalError when it cannot be stored (disk full, folder gone); the run cannot continue
   */
  put(key: string, record: LookupRecord): Promise<void>;
}

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
export class MemoryStore<Value = LookupRecord> {
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
    return stored;
  }
}

const stored = Promise.resolve();
