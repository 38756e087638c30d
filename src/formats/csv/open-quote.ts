import type { CsvDialect } from "./csv-dialect.js";

/** Blank and comment lines at the beginning of a text. */
export interface IgnoredLines {
  readonly length: number;
  readonly count: number;
}

/** The blank and comment lines, ended ones only, that a text begins with. */
export function ignoredLines(text: string, dialect: CsvDialect): IgnoredLines {
  let length = 0;
  let count = 0;
  for (;;) {
    const blank = lineEndAt(text, length, dialect);
    const comment = dialect.comment !== null && text.startsWith(dialect.comment, length);
    if (blank === 0 && !comment) return { length, count };
    const end = comment ? endOfLine(text, length, dialect) : length + blank;
    if (end === -1) return { length, count };
    length = end;
    count += 1;
  }
}

/**
 * Where in a CSV record, given from its beginning, a quote opens that is not closed in the rest of
 * the text; null when there is none. Follows csv-parse with `relax_quotes`: a quote opens only as
 * the first character of a cell, and one that closes elsewhere than at a cell's end is text.
 */
export function openQuoteAt(record: string, dialect: CsvDialect): number | null {
  let at = 0;
  for (;;) {
    if (dialect.spaced) while (record[at] === " ") at += 1;
    if (record[at] === '"') {
      const close = closingQuote(record, at + 1);
      if (close === -1) return at;
      at = close + 1;
    }
    const delimiter = record.indexOf(dialect.delimiter, at);
    if (delimiter === -1) return null;
    at = delimiter + 1;
  }
}

/** The next quote that is not doubled, or -1. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function endOfLine(text: string, from: number, dialect: CsvDialect): number {
  const lf = text.indexOf("\n", from);
  const cr = dialect.lineEnd === "cr" ? text.indexOf("\r", from) : -1;
  const first = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr;
  return first === -1 ? -1 : first + lineEndAt(text, first, dialect);
}

/** Length of the line end at a place, or 0. */
function lineEndAt(text: string, at: number, dialect: CsvDialect): number {
  if (text[at] === "\n") return 1;
  if (text[at] !== "\r") return 0;
  if (text[at + 1] === "\n") return 2;
  return dialect.lineEnd === "cr" ? 1 : 0;
}
