import type { Finding } from "../../core/finding.js";
import { openJournal } from "../../store/journal/journal.js";
import type { LookupStore } from "../../store/store.js";
import type { Worker } from "./start-worker.js";

/** Settles which worker asks for an item that several chunks have. */
export class AnswerDesk {
  readonly #store: LookupStore;
  readonly #open = new Map<string, { owner: Worker; readonly waiting: Worker[] }>();

  constructor(store: LookupStore) {
    this.#store = store;
  }

  /** A worker needs an answer. */
  async claim(worker: Worker, key: string): Promise<void> {
    const open = this.#open.get(key);
    if (open !== undefined) {
      open.waiting.push(worker);
      return;
    }
    this.#open.set(key, { owner: worker, waiting: [] });
    const record = await this.#store.get(key);
    if (record === null) worker.post({ type: "answer", key, finding: null });
    else this.#tell(worker, key, record.finding);
  }

  /** A worker has asked, or gives up. */
  async settle(worker: Worker, key: string, finding: Finding | null): Promise<void> {
    if (this.#open.get(key)?.owner !== worker) return;
    if (finding === null) return this.#passOn(key);
    await this.#store.put(key, { finding, again: null, drift: [] });
    this.#tell(null, key, finding);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** A worker has ended, or its chunk has. */
  drop(worker: Worker): void {
    for (const [key, { owner, waiting }] of this.#open) {
      const others = waiting.filter((each) => each !== worker);
      waiting.splice(0, waiting.length, ...others);
      if (owner === worker) this.#passOn(key);
    }
  }

  #tell(first: Worker | null, key: string, finding: Finding): void {
    const waiting = this.#open.get(key)?.waiting ?? [];
    this.#open.delete(key);
    for (const worker of [first ?? [], waiting].flat()) {
      worker.post({ type: "answer", key, finding });
    }
  }

  #passOn(key: string): void {
    const open = this.#open.get(key);
    const next = open?.waiting.shift();
    if (open === undefined || next === undefined) {
      this.#open.delete(key);
      return;
    }
    open.owner = next;
    next.post({ type: "answer", key, finding: null });
  }
}

/** Opens the answers of a run, with those of its earlier sessions. @throws FatalError `journal_*` */
export async function openAnswers(
  folder: string,
  onWarning: (message: string) => void,
): Promise<AnswerDesk> {
  return new AnswerDesk(await openJournal({ folder, asReceived: true, onWarning }));
}
