/** How things are gathered before they are written together. */
export interface CommitQueueOptions<T> {
  /** So many are written without waiting for more. */
  readonly size: number;
  /** How long they wait for more otherwise, in milliseconds. */
  readonly delayMs: number;
  /** Writes them. What it throws goes to everyone who waits for one of them. */
  readonly write: (items: readonly T[]) => Promise<void>;
}

/** Gathers what is to be written, and does one thing after the other with what it is written to. */
export class CommitQueue<T> {
  readonly #options: CommitQueueOptions<T>;
  #group = new Group<T>();
  #timer: NodeJS.Timeout | null = null;
  #last: Promise<void> = Promise.resolve();
  #writing = false;

  constructor(options: CommitQueueOptions<T>) {
    this.#options = options;
  }

  /** Resolves when it is written. */
  add(item: T): Promise<void> {
    const group = this.#group;
    group.items.push(item);
    this.#schedule();
    return group.written;
  }

  /** Writes what waits. Rejects when it, or what was written before it, cannot be written. */
  async flush(): Promise<void> {
    const { items, written } = this.#group;
    if (items.length === 0) return this.between(() => Promise.resolve());
    this.#start();
    await written;
  }

  /** Does something while nothing is being written. */
  between<R>(work: () => Promise<R>): Promise<R> {
    const done = this.#last.then(work);
    this.#last = done.then(noted, noted);
    return done;
  }

  #schedule(): void {
    if (this.#writing) return;
    if (this.#group.items.length >= this.#options.size) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#options.delayMs);
  }

  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const group = this.#group;
    this.#group = new Group<T>();
    this.#writing = true;
    this.between(() => this.#options.write(group.items))
      .then(group.resolve, group.reject)
      .finally(() => {
        this.#writing = false;
        if (this.#group.items.length > 0) this.#schedule();
      })
      .catch(noted);
  }
}

/** Things that are written together, with one promise for all who wait. */
class Group<T> {
  readonly items: T[] = [];
  readonly written: Promise<void>;
  resolve!: () => void;
  reject!: (error: unknown) => void;

  constructor() {
    this.written = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Who does not wait for it need not hear of it.
    this.written.catch(noted);
  }
}

function noted(): void {
  // Told to whoever waits for it.
}
