import type { Finding } from "../core/finding.js";
import type { FindingStore } from "./store.js";

/** Keeps findings for as long as the process lives, all of them: for a few lookups by hand. */
export class MemoryStore implements FindingStore {
  readonly #findings = new Map<string, Finding>();

  get(key: string): Finding | null {
    return this.#findings.get(key) ?? null;
  }

  put(key: string, finding: Finding): Promise<void> {
    this.#findings.set(key, finding);
    return Promise.resolve();
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
