/** Text that is taken out at once; longer texts would be copied too often while they grow. */
const longBytes = 64 * 1024;

/** Longest cell that is copied character by character. */
const longestCell = 4096;

const quoteCode = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Rows of CSV or TSV, built as bytes: a text put together from eighty pieces a row is eighty objects
 * for the garbage collector, and one more copy when it goes out. Takes ASCII alone.
 */
export class AsciiText {
  readonly #delimiter: number;
  #bytes = Buffer.allocUnsafeSlow(2 * longBytes);
  #length = 0;
  #rowStart = 0;

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** True when it is time to `take`. */
  get isLong(): boolean {
    return this.#length >= longBytes;
  }

  /** Adds a cell and a delimiter; false when it is not all ASCII, or very long. */
  cell(text: string): boolean {
    const { length } = text;
    if (length > longestCell) return false;
    this.#reserve(2 * length + 3);
    const bytes = this.#bytes;
    const delimiter = this.#delimiter;
    let at = this.#length;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      if (
        code === quoteCode ||
        code === delimiter ||
        code === lineFeed ||
        code === carriageReturn
      ) {
        return this.#quoted(text);
      }
      bytes[at++] = code;
    }
    bytes[at++] = delimiter;
    this.#length = at;
    return true;
  }

  /** Ends the row: its last delimiter becomes the line end. */
  endRow(): void {
    this.#bytes[this.#length - 1] = lineFeed;
    this.#rowStart = this.#length;
  }

  /** Takes back what was added since the last row's end. */
  dropRow(): void {
    this.#length = this.#rowStart;
  }

  /** The rows so far; they are not here any more. */
  take(): string {
    const text = this.#bytes.toString("latin1", 0, this.#length);
    this.#length = 0;
    this.#rowStart = 0;
    return text;
  }

  #quoted(text: string): boolean {
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = quoteCode;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      if (code === quoteCode) bytes[at++] = quoteCode;
      bytes[at++] = code;
    }
    bytes[at++] = quoteCode;
    bytes[at++] = this.#delimiter;
    this.#length = at;
    return true;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(2 * this.#bytes.length);
    this.#bytes.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
  }
}
