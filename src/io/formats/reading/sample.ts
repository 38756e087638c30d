import { continued, type LineEnd, limits } from "./lines.js";

/** Reads chunks until `enough` returns true or the input ends. Reads no further than needed. */
export async function peek(
  chunks: AsyncGenerator<Buffer>,
  enough: (head: Buffer) => boolean,
): Promise<{ readonly head: Buffer; readonly chunks: AsyncGenerator<Buffer> }> {
  let head: Buffer = Buffer.alloc(0);
  while (!enough(head)) {
    const step = await chunks.next();
    if (step.done === true) break;
    head = head.length === 0 ? step.value : Buffer.concat([head, step.value]);
  }
  return { head, chunks: continued(head.length === 0 ? [] : [head], chunks) };
}

/** The first entries of batches, which are read again afterwards. */
export class Sample<T> {
  readonly #batches: AsyncGenerator<readonly T[]>;
  readonly read: T[] = [];

  constructor(batches: AsyncGenerator<readonly T[]>) {
    this.#batches = batches;
  }

  /** Reads until `enough` returns true. @returns false if the input ends before */
  async until(enough: () => boolean): Promise<boolean> {
    while (!enough()) {
      const step = await this.#batches.next();
      if (step.done === true) return false;
      for (const value of step.value) this.read.push(value);
    }
    return true;
  }

  /** Replays everything except the first `skipped` entries, then continues. */
  async *all(skipped = 0): AsyncGenerator<readonly T[]> {
    let left = skipped;
    for await (const batch of continued<readonly T[]>([this.read.splice(0)], this.#batches)) {
      yield left === 0 ? batch : batch.slice(left);
      left = Math.max(0, left - batch.length);
    }
  }
}

/** Whether a sample takes as much memory as it may. */
export function isLong(sample: readonly { readonly size: number }[]): boolean {
  return sample.reduce((sum, { size }) => sum + size, 0) > limits.recordBytes;
}

export type HeadLines = ReturnType<typeof headLines>;

export function isHeadComplete(head: Buffer): boolean {
  if (head.length >= limits.headBytes) return true;
  if (countOf("\n", head) < limits.sampleLines) return false;
  // Comments don't count.
  return headLines(head, { lineEnd: "lf", comment: "#" }).content.length >= limits.sampleLines;
}

/**
 * Splits the start of an input into lines.
 * @param options.comment comment marker; null for none
 */
export function headLines(
  head: Buffer,
  options: { readonly lineEnd: LineEnd; readonly comment: string | null },
) {
  const text = head.subarray(0, limits.headBytes).toString("utf8");
  const lines = text.split(options.lineEnd === "cr" ? /\r\n?|\n/ : /\r?\n/);
  const cutOff = head.length >= limits.headBytes && lines.length > 1;
  if (cutOff) lines.pop();
  const filled = lines
    .map((text, before) => ({ text, before }))
    .filter(({ text }) => text.trim() !== "");
  const texts = filled.map(({ text }) => text);
  const mark = isHeaderWithMark(texts, options.comment) ? null : options.comment;
  const isComment = (text: string): boolean => mark !== null && text.startsWith(mark);
  const begin = beginOf(texts, isComment);
  const before = texts.slice(0, begin);
  const content = filled
    .slice(begin)
    .filter(({ text }) => !isComment(text))
    .slice(0, limits.sampleLines);
  return {
    /** Comment lines before the first content line, without their marker. */
    comments: before.filter(isComment).map((text) => text.slice(mark?.length).trimStart()),
    /** Lines before the first content line that start with `;`. */
    skipped: before.filter((text) => !isComment(text)),
    /** The first content lines, without blank ones and without a possibly incomplete last one. */
    content: content.map(({ text }) => text),
    /** Lines before each of them, blank ones and comments included. */
    before: content.map(({ before }) => before),
  };
}

/** The index of the first line of content: behind comments, also those that start with `;`. */
function beginOf(lines: readonly string[], isComment: (line: string) => boolean): number {
  const plain = lines.findIndex((line) => !isComment(line) && !line.startsWith(";"));
  const other = lines[plain];
  const found = lines.findIndex(
    (line, index) =>
      !isComment(line) && (index === plain || other === undefined || isRowOf(other, line)),
  );
  return found === -1 ? lines.length : found;
}

/** Whether a line that starts with `;` has as many cells as another, the first of them empty. */
function isRowOf(other: string, line: string): boolean {
  return /^;\S/.test(line) && countDelimiters(line, ";") === countDelimiters(other, ";");
}

/**
 * A first line such as `#,ip,count` or `#id,ip,count` directly before data is a header, not a
 * comment: comments have a space, or nothing, after their marker.
 */
function isHeaderWithMark(
  [first = "", second = ""]: readonly string[],
  mark: string | null,
): boolean {
  if (mark !== "#" || !/^#[^\s#"]/.test(first) || second.startsWith(mark)) return false;
  return delimiters.some((delimiter) => {
    const count = countDelimiters(first, delimiter);
    return count > 0 && count === countDelimiters(second, delimiter);
  });
}

/** Counts line ends. With `cr`, LF and CRLF count as well. */
export function countLineEnds(text: Buffer | string, lineEnd: LineEnd): number {
  const lineFeeds = countOf("\n", text);
  return lineEnd === "lf" ? lineFeeds : lineFeeds + countOf("\r", text) - countOf("\r\n", text);
}

function countOf(what: string, text: Buffer | string): number {
  let count = 0;
  for (let at = text.indexOf(what); at !== -1; at = text.indexOf(what, at + 1)) count += 1;
  return count;
}

export type Delimiter = string;

export const delimiters: readonly Delimiter[] = ["\t", ";", ",", "|"];

/** A text as its bytes, one character each. */
export function latin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/**
 * Splits one CSV record the way csv-parse does with `relax_quotes`: a quote opens only at the start
 * of a cell, and text after the closing quote belongs to the cell.
 * @param record without line end
 * @returns its cells, and the position of a quote that is never closed; null for none
 */
export function scanCells(
  record: string,
  { delimiter, spaced = false }: { readonly delimiter: string; readonly spaced?: boolean },
): { readonly cells: readonly string[]; readonly openQuote: number | null } {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    let cell = "";
    if (spaced) while (record[at] === " ") at += 1;
    if (record[at] === '"') {
      const close = closingQuote(record, at + 1);
      const end = close === -1 ? record.length : close;
      cell = record.slice(at + 1, end).replaceAll('""', '"');
      if (close === -1) return { cells: [...cells, cell], openQuote: at };
      at = close + 1;
    }
    const end = record.indexOf(delimiter, at);
    cells.push(cell + record.slice(at, end === -1 ? undefined : end));
    if (end === -1) return { cells, openQuote: null };
    at = end + delimiter.length;
  }
}

/** The cells of a line. Quotes may follow a space. */
export function cellsOfLine(line: string, delimiter: Delimiter): readonly string[] {
  return scanCells(line, { delimiter, spaced: true }).cells;
}

export function countDelimiters(line: string, delimiter: Delimiter): number {
  return cellsOfLine(line, delimiter).length - 1;
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
