/** What goes to the log in one turn of the event loop, with one promise for all who wait. */
export class LogTurn {
  /** How many records these are. */
  size = 0;
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
