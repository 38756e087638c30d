import type { ParsedRecord } from "./record-parser.js";
import type { CsvDialect } from "./scan-cells.js";

/** The first records of some bytes; `stuck` if another one follows that is not simple. */
export interface SimpleRecords {
  readonly records: ParsedRecord[];
  readonly stuck: boolean;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/** Whether an input of this dialect may have simple records. */
export function maySimplify({ spaced, lineEnd }: CsvDialect): boolean {
  return !spaced && lineEnd === "lf";
}

/**
 * Cuts bytes into records as csv-parse does, in a tenth of the time, for as long as they are simple: a
 * cell has no quotes, or is quoted as a whole and has none inside. Skips blank and comment lines. Leaves
 * the last record if its line end is missing.
 */
export function cutSimpleRecords(bytes: Buffer, { delimiter, comment }: CsvDialect): SimpleRecords {
  const records: ParsedRecord[] = [];
  const separator = delimiter.charCodeAt(0);
  const mark = comment === null ? null : Buffer.from(comment, "utf8");
  for (let at = 0; ;) {
    at = afterIgnored(bytes, at, mark);
    const record = cutRecord(bytes, at, separator);
    if (typeof record === "boolean") return { records, stuck: record };
    records.push(record);
    at = record.end;
  }
}

/** Where the first line begins that is neither blank nor a comment, or is incomplete. */
function afterIgnored(bytes: Buffer, from: number, mark: Buffer | null): number {
  for (let at = from; ;) {
    if (bytes[at] === lineFeed) at += 1;
    else if (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) at += 2;
    else if (mark !== null && bytes[at] === mark[0] && isAt(bytes, at, mark)) {
      const end = bytes.indexOf(lineFeed, at);
      if (end === -1) return bytes.length;
      at = end + 1;
    } else return at;
  }
}

function isAt(bytes: Buffer, at: number, mark: Buffer): boolean {
  return bytes.subarray(at, at + mark.length).equals(mark);
}

/** A record; true if it is not simple, false if it is incomplete. */
function cutRecord(bytes: Buffer, from: number, separator: number): ParsedRecord | boolean {
  const cells: string[] = [];
  for (let at = from; ;) {
    const isQuoted = bytes[at] === quote;
    const begin = isQuoted ? at + 1 : at;
    const end = isQuoted ? bytes.indexOf(quote, begin) : endOfPlain(bytes, begin, separator);
    if (end === -1) return false;
    at = isQuoted ? end + 1 : end;
    const next = bytes[at];
    const isLast = next === lineFeed || (next === carriageReturn && bytes[at + 1] === lineFeed);
    if (!isLast && next !== separator) return at + 1 < bytes.length;
    cells.push(bytes.toString("latin1", begin, end));
    at += next === carriageReturn ? 2 : 1;
    if (isLast) return { cells, end: at };
  }
}

/** Position of the first byte that does not belong to a plain cell; -1 if there is none. */
function endOfPlain(bytes: Buffer, from: number, separator: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === separator || byte === lineFeed || byte === carriageReturn || byte === quote) {
      return at;
    }
  }
  return -1;
}
