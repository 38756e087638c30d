/** A record that waits to be written. */
export interface WaitingRecord {
  readonly hash: number;
  readonly bytes: Buffer;
}

/** Records that are written together, with one promise for all who wait. */
export class WriteGroup {
  readonly records: WaitingRecord[] = [];
  readonly written: Promise<void>;
  #bytes = 0;
  #resolve!: () => void;
  #reject!: (error: Error) => void;

  constructor() {
    this.written = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get size(): number {
    return this.records.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(hash: number, bytes: Buffer): void {
    this.records.push({ hash, bytes });
    this.#bytes += bytes.length;
  }

  resolve(): void {
    this.#resolve();
  }

  reject(error: Error): void {
    // Nobody waits for a group without records.
    if (this.size > 0) this.#reject(error);
  }
}
