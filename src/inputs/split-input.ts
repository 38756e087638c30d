import { crc32 } from "node:zlib";
import type { Row } from "../core/row.js";
import type { AnyInput, InputBytes, InputRange, OpenedSource } from "./types.js";
import { type InputOptions, openInput } from "./open-input.js";

/** A part of an input between two rows, with what it takes to recognise it. */
export interface Part extends Pick<InputRange, "start" | "end" | "row" | "line"> {
  readonly rows: number;
  readonly crc: number;
}

export class InputSplitter {
  readonly #copy: (bytes: Buffer) => Promise<void>;
  /** Bytes read that are not in a part yet. */
  #pieces: Buffer[] = [];
  #cutTo = 0;
  #readTo = 0;

  /**
   * @param copy receives the decompressed UTF-8 bytes in order, where parts of the input cannot be
   *   read alone
   */
  constructor(copy: (bytes: Buffer) => Promise<void> = async () => undefined) {
    this.#copy = copy;
  }

  /** Opens the input for `parts`: its bytes pass through this splitter on their way to the reader. */
  async open(input: AnyInput, options: InputOptions): Promise<{ readonly opened: InputBytes }> {
    const bytes = "opened" in input ? input.opened : await openInput(input, options);
    return { opened: { ...bytes, chunks: this.#watch(bytes) } };
  }

  /**
   * The parts in order; at least one, which has no rows if the input has none.
   *
   * @param rowsPerPart the last part may have fewer
   */
  async *parts(rows: OpenedSource["rows"], rowsPerPart: number): AsyncGenerator<Part> {
    let before = { row: 0, line: 0 };
    let last: Row | null = null;
    for await (const batch of rows) {
      for (const row of batch) {
        const isEnd = last?.continues !== true;
        if (last !== null && isEnd && last.number - before.row >= rowsPerPart) {
          yield this.#cut(before, last);
          before = { row: last.number, line: last.endLine };
        }
        last = row;
      }
    }
    yield this.#cut(before, last ?? { number: 0, end: this.#readTo });
  }

  async *#watch({ chunks, start }: InputBytes): AsyncGenerator<Buffer> {
    // A byte order mark is not among the chunks, but offsets count it.
    if (start > 0) await this.#take(utf8Mark.subarray(0, start));
    for await (const chunk of chunks) {
      await this.#take(chunk);
      yield chunk;
    }
  }

  async #take(bytes: Buffer): Promise<void> {
    this.#pieces.push(bytes);
    this.#readTo += bytes.length;
    await this.#copy(bytes);
  }

  #cut(before: Pick<Part, "row" | "line">, { number, end }: Pick<Row, "number" | "end">): Part {
    const start = this.#cutTo;
    let crc = 0;
    while (this.#cutTo < end) {
      const piece = this.#pieces[0]!;
      const taken = piece.subarray(0, end - this.#cutTo);
      crc = crc32(taken, crc);
      this.#cutTo += taken.length;
      if (taken.length === piece.length) this.#pieces.shift();
      else this.#pieces[0] = piece.subarray(taken.length);
    }
    return { start, end, ...before, rows: number - before.row, crc };
  }
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);
