import type { CliContext } from "../command.js";
import { printable } from "../../core/printable.js";

/** Rows that are laid out together; with more, the first ones decide the widths of all. */
const batchRows = 500;
const gap = 2;
/** No column is made narrower than this for the sake of the others. */
const narrowest = 8;
/** Longest text of a cell that is shown, in UTF-16 units; `--json` has all of it. */
const longestCell = 2000;

/**
 * Text in columns that line up, for a terminal. Columns without any value are left out; where a
 * line would be too long the widest columns give way, and what does not fit is wrapped. Rows are
 * held back until they can be laid out, but never more than a batch of them.
 */
export class TerminalTable {
  readonly #context: Pick<CliContext, "stdout">;
  readonly #titles: readonly string[] | null;
  #rows: (readonly string[])[] = [];
  #columns: readonly Column[] | null = null;

  /** @param titles of the columns; null for a table without a line of titles */
  constructor(context: Pick<CliContext, "stdout">, titles: readonly string[] | null) {
    this.#context = context;
    this.#titles = titles;
  }

  async add(cells: readonly string[]): Promise<void> {
    this.#rows.push(cells.map(shown));
    if (this.#rows.length === batchRows) await this.#write(true);
  }

  /** Shows what is still held back. */
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
  /** Place among the cells. */
  readonly index: number;
  readonly width: number;
}

/** @param more whether rows follow, which may have values where these have none */
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

/** The largest limit that makes the widths fit, put on the columns that exceed it. */
function fitted(widths: readonly number[], room: number): readonly number[] {
  let limit = Math.min(Math.max(...widths, narrowest), Math.max(room, narrowest));
  const total = (): number => widths.reduce((sum, wide) => sum + Math.min(wide, limit), 0);
  while (limit > narrowest && total() > room) limit--;
  return widths.map((wide) => Math.min(wide, limit));
}

/** Gives what is left of the room to all alike: rows that follow may be wider than these. */
function spread(widths: readonly number[], room: number): readonly number[] {
  const left = room - widths.reduce((sum, wide) => sum + wide, 0);
  return widths.map((wide) => wide + Math.max(0, Math.floor(left / widths.length)));
}

const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303F\uFF01-\uFF60]|\p{Emoji_Presentation}/gu;

/** Columns of a terminal that the longest line of a text takes, two for a character of East Asia. */
function widthOf(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length + (line.match(wide)?.length ?? 0)));
}

/** What a service or a file holds must not steer the terminal. */
function shown(text: string): string {
  const cut = text.length > longestCell ? `${text.slice(0, longestCell)}…` : text;
  return printable(cut);
}
