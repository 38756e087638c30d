/** Where a journal lacks records that it had, counted while it is read from its beginning. */
export class LostRecords {
  readonly #durable: number;
  #count = 0;
  #first: readonly [from: number, to: number] = [0, 0];

  /**
   * @param durable bytes of the file that a loss of power cannot have lost. What is behind them may
   * end anywhere.
   */
  constructor(durable: number) {
    this.#durable = durable;
  }

  /** Notes that one record ends and the next one begins there. */
  between(end: number, start: number): void {
    if (end < start) this.#add(end, start);
  }

  /** Notes that the last record ends there. */
  behind(end: number): void {
    if (end < this.#durable) this.#add(end, this.#durable);
  }

  /** What a person is told of the damage; null where there is none. */
  warning(path: string): string | null {
    if (this.#count === 0) return null;
    const [from, to] = this.#first;
    const more = this.#count === 1 ? "" : `, and in ${this.#count - 1} more places`;
    return `${path} is damaged between byte ${from} and byte ${to}${more}: lookups recorded there may be repeated`;
  }

  #add(from: number, to: number): void {
    if (this.#count === 0) this.#first = [from, to];
    this.#count++;
  }
}
