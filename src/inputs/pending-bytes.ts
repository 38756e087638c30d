/** The bytes of an input that belong to no finished record yet, without copying them. */
export class PendingBytes {
  #chunks: Buffer[] = [];
  #start: number;
  #length = 0;

  /** @param start offset of the first byte that will be appended */
  constructor(start: number) {
    this.#start = start;
  }

  get start(): number {
    return this.#start;
  }

  get length(): number {
    return this.#length;
  }

  /** Offset behind the last byte. */
  get end(): number {
    return this.#start + this.#length;
  }

  append(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Forgets what is before an offset of the input. */
  dropBefore(offset: number): void {
    let surplus = offset - this.#start;
    let whole = 0;
    while (whole < this.#chunks.length && this.#chunks[whole]!.length <= surplus) {
      surplus -= this.#chunks[whole]!.length;
      whole += 1;
    }
    this.#chunks.splice(0, whole);
    const first = this.#chunks[0];
    if (first !== undefined && surplus > 0) this.#chunks[0] = first.subarray(surplus);
    this.#length -= offset - this.#start;
    this.#start = offset;
  }

  /** What is between two offsets of the input, one character a byte. */
  textBetween(from: number, to: number): string {
    let text = "";
    let start = this.#start;
    for (const chunk of this.#chunks) {
      const end = start + chunk.length;
      if (end > from && start < to) {
        text += chunk.toString(
          "latin1",
          Math.max(0, from - start),
          Math.min(chunk.length, to - start),
        );
      }
      start = end;
    }
    return text;
  }
}
