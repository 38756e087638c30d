/** Writes that are done together, with one promise for all who wait for them. */
export class WriteBatch {
  /** How many writes these are, where that is counted. */
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
