/** Takes bytes off a stream of chunks, and gives back what was too much. */
export class ByteReader {
  readonly #chunks: AsyncGenerator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #offset = 0;

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Bytes taken so far. */
  get offset(): number {
    return this.#offset;
  }

  /** Whatever comes next, however much; null at the end. */
  async chunk(): Promise<Buffer | null> {
    const chunk = (await this.#fill(1)) ? this.#rest : null;
    this.#rest = Buffer.alloc(0);
    this.#offset += chunk?.length ?? 0;
    return chunk;
  }

  /** Exactly so many bytes; null where fewer are left, and those are taken too. */
  async take(count: number): Promise<Buffer | null> {
    const whole = await this.#fill(count);
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    this.#offset += taken.length;
    return whole ? taken : null;
  }

  /** Gives back bytes at the end of what was taken last. */
  putBack(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([bytes, this.#rest]);
    this.#offset -= bytes.length;
  }

  async #fill(count: number): Promise<boolean> {
    while (this.#rest.length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    }
    return true;
  }
}
