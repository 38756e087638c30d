import { decodeBytes } from "../../core/bytes.js";
import { FatalError } from "../../core/errors.js";
import { splitLines } from "../record-splitter.js";
import type { TextBytes } from "../types.js";

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
 * The lines of an input that are neither blank nor comments, in batches of what one chunk brought,
 * none empty. The last line counts without a line end as well.
 *
 * @throws FatalError `input_record_too_long` naming the line
 */
export async function* contentLines(
  input: TextBytes,
  linesBefore: number,
  isComment: (text: string) => boolean,
): AsyncGenerator<readonly Line[]> {
  const splitter = splitLines();
  let number = linesBefore;
  let end = input.start;
  const linesOf = (records: readonly Buffer[]): Line[] => {
    const lines: Line[] = [];
    for (const record of records) {
      number += 1;
      end += record.length;
      const content = withoutLineEnd(record);
      if (content.length > limits.recordBytes) throw tooLong(input.name, number);
      const text = decodeBytes(content);
      if (!isBlank(text) && !isComment(text)) lines.push({ text, number, end });
    }
    return lines;
  };
  for await (const chunk of input.chunks) {
    const lines = linesOf(splitter.push(input.lineEnd === "cr" ? withLineFeeds(chunk) : chunk));
    if (lines.length > 0) yield lines;
    // Room for a carriage return.
    if (splitter.pending > limits.recordBytes + 1) throw tooLong(input.name, number + 1);
  }
  const rest = splitter.end();
  const last = rest === null ? [] : linesOf([rest]);
  if (last.length > 0) yield last;
}

/** Lists as they come, with `change` made to each entry. */
export async function* mapLists<T, R>(
  lists: AsyncIterable<readonly T[]>,
  change: (entry: T) => R,
): AsyncGenerator<readonly R[]> {
  for await (const list of lists) yield list.map((entry) => change(entry));
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function withoutLineEnd(record: Buffer): Buffer {
  let end = record.length;
  if (record[end - 1] === lineFeed) end -= 1;
  if (record[end - 1] === carriageReturn) end -= 1;
  return record.subarray(0, end);
}

function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  // Most lines begin with a printable ASCII character, which settles it.
  return !(first > 0x20 && first < 0x7f) && text.trim() === "";
}

/** Old Mac line ends as LF, length and offsets unchanged. */
function withLineFeeds(chunk: Buffer): Buffer {
  return Buffer.from(chunk.map((byte) => (byte === carriageReturn ? lineFeed : byte)));
}

function tooLong(name: string, line: number): FatalError {
  const message = `line ${line} of ${name} is longer than 16 MiB`;
  return new FatalError("input_record_too_long", message, {
    hint: "Is the input in the format that --from says? Mend or remove the line.",
  });
}

/** Bounds that keep an input's mess from becoming the machine's. */
export const limits = {
  /** Longest record (line, or CSV record over several lines) in bytes. */
  recordBytes: 16 * 1024 * 1024,
  /** Most rows of a batch. */
  batchRows: 512,
  /** Bytes looked at to see what an input is. */
  headBytes: 64 * 1024,
  /** NDJSON: lines without an object that are put up with before the first object. */
  linesBeforeObject: 10_000,
  /** NDJSON: objects that are searched for a path that a flag names. */
  objectsSearched: 100,
  /** Records whose cells are looked at to find the item column. */
  sampleRecords: 200,
  /** Content lines looked at to see what an input is. */
  sampleLines: 20,
  /**
   * A stream that brings nothing for so long, or has been sampled for so long (in milliseconds), is
   * judged by what it brought, if that is enough.
   */
  pauseMs: 1000,
  sampleMs: 5000,
} as const;

/** Counts of things that a person should know of, in the order in which they first happened. */
export class Warnings {
  readonly #counts = new Map<string, number>();

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  add(message: string): void {
    this.#counts.set(message, (this.#counts.get(message) ?? 0) + 1);
  }
}
