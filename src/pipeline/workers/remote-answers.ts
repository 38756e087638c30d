import type { Finding } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { SharedAnswers } from "../../lookup/shared-answers.js";
import type { WorkerReport } from "./messages.js";
import { isMarked } from "./shared-items.js";

/** Answers that the parent process keeps for all workers. */
export class RemoteAnswers implements SharedAnswers {
  readonly #marks: Buffer | null;
  readonly #post: (report: WorkerReport) => void;
  readonly #waiting = new Map<string, ((finding: Finding | null) => void)[]>();

  /** @param marks items of several chunks; null if any item may be one */
  constructor(marks: Buffer | null, post: (report: WorkerReport) => void) {
    this.#marks = marks;
    this.#post = post;
  }

  isShared(item: Item): boolean {
    return this.#marks === null || isMarked(this.#marks, item);
  }

  claim(key: string): Promise<Finding | null> {
    this.#post({ type: "claim", key });
    return new Promise((resolve) => {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]);
    });
  }

  settle(key: string, finding: Finding | null): void {
    this.#post({ type: "settled", key, finding });
  }

  /** The parent answers a claim. */
  receive(key: string, finding: Finding | null): void {
    const [first, ...others] = this.#waiting.get(key) ?? [];
    if (others.length === 0) this.#waiting.delete(key);
    else this.#waiting.set(key, others);
    if (first === undefined) this.settle(key, null);
    else first(finding);
  }
}
