/**
 * Says when enough lookups wait for a slot, so that no more rows need to be begun. What is begun
 * early lies in memory until its turn comes, and is out of the processor's cache by then: with a
 * backlog of hundreds a run takes a tenth more time.
 */
export class Backlog {
  readonly #enough: number;
  #crowded = false;
  #onRoom: () => void = () => undefined;

  /** @param enough waiting lookups at which it is crowded, 1 or more; it takes more again at half of them */
  constructor(enough: number) {
    this.#enough = enough;
  }

  /** True from when enough wait until half of them do. */
  get crowded(): boolean {
    return this.#crowded;
  }

  /** Tells one listener, the latest, each time that `crowded` turns false. */
  onRoom(listener: () => void): void {
    this.#onRoom = listener;
  }

  /** Takes note of how many wait. */
  note(waiting: number): void {
    if (waiting >= this.#enough) {
      this.#crowded = true;
    } else if (this.#crowded && 2 * waiting <= this.#enough) {
      this.#crowded = false;
      this.#onRoom();
    }
  }
}
