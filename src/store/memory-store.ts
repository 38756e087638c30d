import type { LookupRecord } from "../core/attempt.js";
import type { Store } from "./store.js";

/** Keeps everything for as long as the process lives: for a few lookups by hand. */
export class MemoryStore<Value = LookupRecord> implements Store<Value> {
  readonly #values = new Map<string, Value>();

  get(key: string): Value | null {
    return this.#values.get(key) ?? null;
  }

  put(key: string, value: Value): Promise<void> {
    this.#values.set(key, value);
    return Promise.resolve();
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
