import type { LookupRecord } from "../core/attempt.js";
import type { Store } from "./store.js";

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
