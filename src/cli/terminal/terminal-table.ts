import stringWidth from "string-width";
import { printable } from "../../core/text/printable.js";
import type { TerminalStream } from "./terminal-output.js";
import { type Paint, writePainted } from "./colors.js";
import { type CardField, printCard, cutLong, shorten, wrapWords } from "./terminal-card.js";

/** Rows laid out together; the first batch sets the widths for all. */
const batchRows = 500;
const gap = 2;
/** Minimum width of a shortened column, and of the first one: an IPv4 address. */
const narrowest = 8;
const narrowestFirst = 15;
/**
 * A table for a terminal. Empty columns are dropped, numbers are aligned to the right. If lines
 * would be too long, the widest columns are shortened; on a terminal too narrow even for that, each
 * row becomes a card. Rows are buffered, at most one batch.
 */
export class TerminalTable {
  readonly #stdout: TerminalStream;
  readonly #titles: readonly string[];
  readonly #paint: Paint;
  readonly #prose: boolean;
  #rows: (readonly string[])[] = [];
  #layout: Layout | null = null;

  /**
   * @param titles of the columns
   * @param prose whether the last column is text to be read in full: it wraps between words
   */
  constructor(stdout: TerminalStream, titles: readonly string[], paint: Paint, prose = false) {
    this.#stdout = stdout;
    this.#titles = titles;
    this.#paint = paint;
    this.#prose = prose;
  }

  add(cells: readonly string[]): void {
    this.#rows.push(cells.map(shown));
    if (this.#rows.length === batchRows) this.#write(true);
  }

  /** Prints buffered rows. */
  end(): void {
    if (this.#rows.length > 0) this.#write(false);
  }

  #write(more: boolean): void {
    const isFirst = this.#layout === null;
    const rows = this.#rows;
    this.#rows = [];
    this.#layout ??= layOut(this.#titles, rows, roomOf(this.#stdout), more);
    const { columns, asCards } = this.#layout;
    if (columns.length === 0) return;
    if (asCards) {
      const cards = rows.map((cells) => ({
        title: "",
        fields: columns
          .map(({ title, index }): CardField => [title, cells[index] ?? ""])
          .filter(([, cell]) => cell !== ""),
      }));
      if (!isFirst) this.#stdout.write("\n");
      printCard(this.#stdout, cards, this.#paint);
      return;
    }
    const lines = rows.flatMap((cells) => this.#lines(columns, cells));
    if (isFirst) lines.unshift(this.#header(columns));
    writePainted(this.#stdout, `${lines.join("\n")}\n`);
  }

  #header(columns: readonly TableColumn[]): string {
    const titles = columns.map(({ title, width, side }): PlacedCell => [
      shorten(title, width),
      width,
      side,
    ]);
    return joined(titles, (text) => this.#paint.title(text));
  }

  #lines(columns: readonly TableColumn[], cells: readonly string[]): readonly string[] {
    const last = columns.at(-1);
    const [head = "", ...rest] =
      this.#prose && last !== undefined ? wrapWords(cells[last.index] ?? "", last.width) : [];
    const placed = columns.map((column): PlacedCell => {
      const { index, width, side } = column;
      const text = this.#prose && column === last ? head : shorten(cells[index] ?? "", width);
      return [text, width, side];
    });
    const start = sum(columns.slice(0, -1).map(({ width }) => width + gap));
    return [
      joined(placed, (text) => this.#paint.cell(text, text)),
      ...rest.map((line) => " ".repeat(start) + line),
    ];
  }
}

type Side = "left" | "right";
type PlacedCell = readonly [text: string, width: number, side: Side];

/** The cells of a line, aligned to their sides, without trailing spaces. */
function joined(cells: readonly PlacedCell[], paint: (text: string) => string): string {
  const last = cells.findLastIndex(([text]) => text !== "");
  return cells
    .slice(0, last + 1)
    .map(([text, width, side], at) => {
      const space =
        at === last && side === "left" ? "" : " ".repeat(Math.max(0, width - stringWidth(text)));
      const painted = text === "" ? "" : paint(text);
      return side === "right" ? space + painted : painted + space;
    })
    .join(" ".repeat(gap));
}

interface TableColumn {
  readonly title: string;
  /** Index among the cells. */
  readonly index: number;
  readonly width: number;
  /** Side to which its cells are aligned. */
  readonly side: Side;
}

interface Layout {
  readonly columns: readonly TableColumn[];
  /** Whether each row is a card: the terminal is too narrow for a table. */
  readonly asCards: boolean;
}

/** Columns of the terminal; anything else takes lines of any length. */
function roomOf(stdout: TerminalStream): number {
  return stdout.isTTY === true ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

/** @param more whether more rows follow, possibly with values in empty columns */
function layOut(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  room: number,
  more: boolean,
): Layout {
  const kept = [...titles.keys()].filter(
    (index) => more || rows.some((cells) => (cells[index] ?? "") !== ""),
  );
  const natural = kept.map((index) =>
    [titles, ...rows].reduce((most, cells) => Math.max(most, stringWidth(cells[index] ?? "")), 1),
  );
  const free = room - gap * (kept.length - 1);
  const fit = fitted(natural, free);
  const widths = more && room < Number.POSITIVE_INFINITY ? spread(fit, free) : fit;
  return {
    columns: kept.map((index, at) => ({
      title: titles[index] ?? "",
      index,
      width: widths[at] ?? narrowest,
      side: rows.every((cells) => isNumber(cells[index] ?? "")) ? "right" : "left",
    })),
    asCards: sum(fit) > free,
  };
}

/** Caps all widths at the largest limit that makes them fit, down to their minimum. */
function fitted(widths: readonly number[], room: number): readonly number[] {
  const capped = (limit: number): readonly number[] =>
    widths.map((width, at) => Math.min(width, Math.max(limit, at === 0 ? narrowestFirst : 0)));
  let limit = Math.max(...widths, narrowest);
  while (limit > narrowest && sum(capped(limit)) > room) limit--;
  return capped(limit);
}

/** Shares the remaining room evenly: later rows may be wider. */
function spread(widths: readonly number[], room: number): readonly number[] {
  const share = Math.max(0, Math.floor((room - sum(widths)) / widths.length));
  return widths.map((width) => width + share);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Whether a cell is empty, or a number that may have a unit. */
function isNumber(text: string): boolean {
  return /^(?:[+-]?[\d,]+(?:\.\d+)?(?: ?%| ?[kMGT]?B)?)?$/.test(text);
}

/** Makes untrusted text safe for one line of the terminal. */
function shown(text: string): string {
  const cut = cutLong(text);
  return printable(cut).replaceAll(/\s*\n\s*/g, " ");
}
