import type { Finding } from "../../core/finding.js";

/**
 * Findings that were asked for again, the latest `size` of them, in memory: what repeats often in an
 * input is not read from the file each time.
 */
export class RepeatedFindings {
  readonly #size: number;
  readonly #findings = new Map<string, Finding>();

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string): Finding | undefined {
    return this.#findings.get(key);
  }

  add(key: string, finding: Finding): void {
    if (this.#findings.size >= this.#size) this.#dropOldest();
    this.#findings.set(key, finding);
  }

  /** Takes note of a newer finding for a key that is here. */
  update(key: string, finding: Finding): void {
    if (this.#findings.has(key)) this.#findings.set(key, finding);
  }

  #dropOldest(): void {
    for (const oldest of this.#findings.keys()) {
      this.#findings.delete(oldest);
      return;
    }
  }
}
