/** Parts that are opened when they are first needed. */
export class OpenedOnce {
  readonly #parts = new Map<string, Promise<unknown>>();

  /** The part of this name. One that failed to open is tried again with the next call. */
  open<T>(name: string, open: () => Promise<T>): Promise<T> {
    const known = this.#parts.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const opening = open();
    this.#parts.set(name, opening);
    opening.catch(() => this.#parts.delete(name));
    return opening;
  }

  /** Resolves once nothing is being opened. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#parts.values());
  }
}
