/** Writes that are flushed together and share one promise. */
export class WriteBatch {
  /** Number of writes, where the owner counts them. */
  size = 0;
  readonly done: Promise<void>;
  resolve!: () => void;
  reject!: (error: Error) => void;

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}
