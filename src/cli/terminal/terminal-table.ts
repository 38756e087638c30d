import type { CliContext } from "../command.js";
import { printable } from "../../core/printable.js";

/** Rows laid out together; the first batch sets the widths for all. */
const batchRows = 500;
const gap = 2;
/** Minimum width of a shrunk column. */
const narrowest = 8;
/** Maximum length of a cell, in UTF-16 units; `--json` prints all of it. */
const longestCell = 2000;

/**
 * A table for a terminal. Empty columns are dropped; if lines would be too long, the widest columns
 * shrink and their text wraps. Rows are buffered, at most one batch.
 */
export class TerminalTable {
  readonly #context: Pick<CliContext, "stdout">;
  readonly #titles: readonly string[] | null;
  #rows: (readonly string[])[] = [];
  #columns: readonly Column[] | null = null;

  /** @param titles of the columns; null for a table without a header */
  constructor(context: Pick<CliContext, "stdout">, titles: readonly string[] | null) {
    this.#context = context;
    this.#titles = titles;
  }

  async add(cells: readonly string[]): Promise<void> {
    this.#rows.push(cells.map(shown));
    if (this.#rows.length === batchRows) await this.#write(true);
  }

  /** Prints buffered rows. */
  async end(): Promise<void> {
    if (this.#rows.length > 0) await this.#write(false);
  }

  async #write(more: boolean): Promise<void> {
    const { stdout } = this.#context;
    const titled = this.#columns === null && this.#titles !== null;
    const rows = this.#rows;
    this.#rows = [];
    this.#columns ??= layOut(this.#titles, rows, stdout.columns || 80, more);
    const columns = this.#columns;
    if (columns.length === 0) return;
    const lines = titled ? [this.#titles ?? [], ...rows] : rows;
    const { table, getBorderCharacters } = await import("table");
    const text = table(
      lines.map((cells) => columns.map(({ index }) => cells[index] ?? "")),
      {
        border: getBorderCharacters("void"),
        drawHorizontalLine: () => false,
        columnDefault: { paddingLeft: 0, paddingRight: gap, wrapWord: true },
        columns: columns.map(({ width }) => ({ width })),
      },
    );
    stdout.write(text.replaceAll(/ +$/gm, ""));
  }
}

interface Column {
  /** Index among the cells. */
  readonly index: number;
  readonly width: number;
}

/** @param more whether more rows follow, possibly with values in empty columns */
function layOut(
  titles: readonly string[] | null,
  rows: readonly (readonly string[])[],
  room: number,
  more: boolean,
): readonly Column[] {
  const count = titles?.length ?? Math.max(...rows.map((cells) => cells.length));
  const kept = Array.from({ length: count }, (_, index) => index).filter(
    (index) => more || rows.some((cells) => (cells[index] ?? "") !== ""),
  );
  const natural = kept.map((index) =>
    Math.max(1, ...[titles ?? [], ...rows].map((cells) => widthOf(cells[index] ?? ""))),
  );
  const free = room - gap * (kept.length - 1);
  const widths = more ? spread(fitted(natural, free), free) : fitted(natural, free);
  return kept.map((index, at) => ({ index, width: widths[at] ?? narrowest }));
}

/** Caps all widths at the largest limit that makes them fit. */
function fitted(widths: readonly number[], room: number): readonly number[] {
  let limit = Math.min(Math.max(...widths, narrowest), Math.max(room, narrowest));
  const total = (): number => widths.reduce((sum, wide) => sum + Math.min(wide, limit), 0);
  while (limit > narrowest && total() > room) limit--;
  return widths.map((wide) => Math.min(wide, limit));
}

/** Shares the remaining room evenly: later rows may be wider. */
function spread(widths: readonly number[], room: number): readonly number[] {
  const left = room - widths.reduce((sum, wide) => sum + wide, 0);
  return widths.map((wide) => wide + Math.max(0, Math.floor(left / widths.length)));
}

const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303F\uFF01-\uFF60]|\p{Emoji_Presentation}/gu;

/** Terminal columns of the longest line; East Asian characters and emoji take two. */
function widthOf(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length + (line.match(wide)?.length ?? 0)));
}

/** Makes untrusted text safe for the terminal. */
function shown(text: string): string {
  const cut = text.length > longestCell ? `${text.slice(0, longestCell)}…` : text;
  return printable(cut);
}
