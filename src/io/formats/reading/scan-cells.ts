export type Delimiter = string;

export const delimiters: readonly Delimiter[] = ["\t", ";", ",", "|"];

/** A text as its bytes, one character each. */
export function latin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** The cells of a record, and the position of a quote that is never closed; null for none. */
interface ScannedCells {
  readonly cells: readonly string[];
  readonly openQuote: number | null;
}

/**
 * Splits one CSV record the way csv-parse does with `relax_quotes`: a quote opens only at the start
 * of a cell, and text after the closing quote belongs to the cell.
 * @param record without line end
 * @param most stop after this many cells
 */
export function scanCells(
  record: string,
  { delimiter, spaced = false }: { readonly delimiter: string; readonly spaced?: boolean },
  most = Number.POSITIVE_INFINITY,
): ScannedCells {
  const cells: string[] = [];
  let at = 0;
  while (cells.length < most) {
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
    if (end === -1) break;
    at = end + delimiter.length;
  }
  return { cells, openQuote: null };
}

/** Counts delimiters outside quotes. Quotes may follow a space. */
export function countDelimiters(line: string, delimiter: Delimiter): number {
  return scanCells(line, { delimiter, spaced: true }).cells.length - 1;
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
