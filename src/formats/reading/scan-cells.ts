/** Character between the cells of a CSV or TSV input. */
export type Delimiter = string;

export const delimiters: readonly Delimiter[] = ["\t", ";", ","];

export interface CellDialect {
  readonly delimiter: Delimiter;
  /** Ignore spaces before a cell. @default false */
  readonly spaced?: boolean;
}

export interface ScannedCells {
  readonly cells: string[];
  /** The start of a quoted cell that is not closed yet; null for none. */
  readonly open: string | null;
}

/**
 * Splits a line of CSV. A quote opens only at the start of a cell; a quoted cell with text after it
 * keeps its quotes.
 *
 * @param line without line end
 * @param before what the lines before it left open, with their line end; its list grows
 * @param most stop after this many cells
 */
export function scanLine(
  line: string,
  { delimiter, spaced = false }: CellDialect,
  before: ScannedCells = { cells: [], open: null },
  most = Number.POSITIVE_INFINITY,
): ScannedCells {
  const { cells } = before;
  let quoted = before.open;
  let at = 0;
  while (cells.length < most) {
    if (spaced && quoted === null) while (line[at] === " ") at += 1;
    if (quoted === null && line[at] === '"') {
      quoted = "";
      at += 1;
    }
    if (quoted !== null) {
      const close = closingQuote(line, at);
      quoted += line.slice(at, close === -1 ? undefined : close).replaceAll('""', '"');
      if (close === -1) return { cells, open: quoted };
      at = close + 1;
    }
    const end = line.indexOf(delimiter, at);
    const rest = line.slice(at, end === -1 ? undefined : end);
    cells.push(quoted === null ? rest : rest === "" ? quoted : `"${quoted}"${rest}`);
    if (end === -1) break;
    quoted = null;
    at = end + 1;
  }
  return { cells, open: null };
}

/** The cells of a whole record. A quote that is never closed ends with it. */
export function scanCells(record: string, dialect: CellDialect, most?: number): readonly string[] {
  const { cells, open } = scanLine(record, dialect, undefined, most);
  return open === null ? cells : [...cells, open];
}

/** Counts delimiters outside quotes. Quotes may follow a space. */
export function countDelimiters(line: string, delimiter: Delimiter): number {
  return scanCells(line, { delimiter, spaced: true }).length - 1;
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
