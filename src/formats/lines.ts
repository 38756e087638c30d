import { isUtf8 } from "node:buffer";
import { decodeBytes } from "../core/bytes.js";
import { FatalError } from "../core/errors.js";
import { limits } from "./limits.js";
import type { InputBytes } from "../inputs/open-input.js";

/** One line of an input. */
export interface Line {
  /** Without its line end. */
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** Offset in bytes just behind the line end. */
  readonly end: number;
}

/**
 * The lines of an input in batches of what one chunk brought, empty lines included. The last line
 * counts without a line end as well.
 *
 * @throws FatalError `input_record_too_long` naming the line
 */
export async function* readLines(
  input: InputBytes,
  linesBefore: number,
): AsyncGenerator<readonly Line[]> {
  const splitter = new LineSplitter(input, linesBefore);
  for await (const chunk of input.chunks) {
    const lines = splitter.split(chunk);
    if (lines.length > 0) yield lines;
  }
  const last = splitter.flush();
  if (last.length > 0) yield last;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

class LineSplitter {
  readonly #name: string;
  readonly #unifyLineEnds: boolean;
  #number: number;
  #offset: number;
  /** The beginning of a line that no chunk has ended yet. */
  #open: Buffer[] = [];
  #openLength = 0;

  constructor(input: InputBytes, linesBefore: number) {
    this.#name = input.name;
    this.#unifyLineEnds = input.lineEnd === "cr";
    this.#number = linesBefore;
    this.#offset = input.start;
  }

  split(chunk: Buffer): Line[] {
    const bytes = this.#unifyLineEnds ? withLineFeeds(chunk) : chunk;
    const lastEnd = bytes.lastIndexOf(lineFeed);
    if (lastEnd === -1) {
      this.#keep(bytes);
      return [];
    }
    const whole = bytes.subarray(0, lastEnd + 1);
    const block = this.#openLength === 0 ? whole : Buffer.concat([...this.#open, whole]);
    this.#open = [];
    this.#openLength = 0;
    const lines = this.#cut(block);
    if (lastEnd + 1 < bytes.length) this.#keep(bytes.subarray(lastEnd + 1));
    return lines;
  }

  flush(): Line[] {
    if (this.#openLength === 0) return [];
    const block = Buffer.concat(this.#open);
    this.#open = [];
    this.#openLength = 0;
    return this.#cut(block);
  }

  #cut(block: Buffer): Line[] {
    const clean = isUtf8(block);
    const lines: Line[] = [];
    for (let start = 0; start < block.length;) {
      const found = block.indexOf(lineFeed, start);
      const next = found === -1 ? block.length : found + 1;
      let end = found === -1 ? block.length : found;
      if (end > start && block[end - 1] === carriageReturn) end -= 1;
      this.#number += 1;
      if (end - start > limits.recordBytes) throw this.#tooLong(this.#number);
      const text = clean
        ? block.toString("utf8", start, end)
        : decodeBytes(block.subarray(start, end));
      lines.push({ text, number: this.#number, end: this.#offset + next });
      start = next;
    }
    this.#offset += block.length;
    return lines;
  }

  #keep(bytes: Buffer): void {
    this.#open.push(bytes);
    this.#openLength += bytes.length;
    if (this.#openLength > limits.recordBytes + 1) throw this.#tooLong(this.#number + 1);
  }

  #tooLong(line: number): FatalError {
    const message = `line ${line} of ${this.#name} is longer than 16 MiB`;
    return new FatalError("input_record_too_long", message, {
      hint: "Is the input in the format that --from says? Mend or remove the line.",
    });
  }
}

/** Old Mac line ends as LF, length and offsets unchanged. */
function withLineFeeds(chunk: Buffer): Buffer {
  const bytes = Buffer.from(chunk);
  for (
    let at = bytes.indexOf(carriageReturn);
    at !== -1;
    at = bytes.indexOf(carriageReturn, at + 1)
  ) {
    bytes[at] = lineFeed;
  }
  return bytes;
}
