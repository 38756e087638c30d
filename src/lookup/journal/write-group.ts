/** A group of so many records, or so many bytes, does not wait for more. */
const large = { records: 2048, bytes: 4 * 1024 * 1024 };

/** How many times as much a group may hold while the one before it is on its way. */
const mostTimesLarge = 4;

/** A record on its way into the database. */
export interface WaitingRecord {
  readonly key: string;
  readonly hash: number;
  readonly sequence: number;
  readonly bytes: Buffer;
}

/** Records that the database takes over together; they can be read meanwhile. */
export class WriteGroup {
  readonly records: WaitingRecord[] = [];
  readonly #byKey = new Map<string, Buffer>();
  #bytes = 0;

  get size(): number {
    return this.records.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isLarge(): boolean {
    return this.records.length >= large.records || this.#bytes >= large.bytes;
  }

  /** True when whoever brings more has to wait: the disk is slower than the lookups. */
  get isFull(): boolean {
    return (
      this.records.length >= mostTimesLarge * large.records ||
      this.#bytes >= mostTimesLarge * large.bytes
    );
  }

  add(record: WaitingRecord): void {
    this.records.push(record);
    this.#byKey.set(record.key, record.bytes);
    this.#bytes += record.bytes.length;
  }

  /** The newest record of a key. */
  find(key: string): Buffer | undefined {
    return this.#byKey.get(key);
  }

  /** The record with a sequence number; they follow one another without a gap. */
  at(sequence: number): Buffer | undefined {
    const first = this.records[0]?.sequence ?? 0;
    return this.records[sequence - first]?.bytes;
  }
}

/** Records that go to the log in one turn of the event loop, with one promise for all who wait. */
export class LogTurn {
  readonly records: WaitingRecord[] = [];
  readonly logged: Promise<void>;
  #resolve!: () => void;
  #reject!: (error: Error) => void;

  constructor() {
    this.logged = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(): void {
    this.#resolve();
  }

  reject(error: Error): void {
    this.#reject(error);
  }
}
