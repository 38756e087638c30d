import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { printable } from "../../core/wording/printable.js";
import { type Paint, type TerminalStream, writePainted } from "./terminal-output.js";

const gap = "  ";
/** Minimum width of a shortened column, and of the first one: an IPv4 address. */
const narrowest = 8;
const narrowestFirst = 15;
/** Room that a card's value needs beside its label, else it goes below: a time in RFC 3339. */
const narrowestValue = 24;

interface Table {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the last column is text to be read in full: it wraps between words. */
  readonly prose?: boolean;
  /** Titles of columns that are never shortened. */
  readonly whole?: readonly string[];
}

/**
 * Prints a table. Empty columns are dropped. If lines would be too long for the terminal, the widest
 * other columns are shortened; on a terminal too narrow even for that, each row becomes a card.
 */
export function printTable(stdout: TerminalStream, table: Table, paint: Paint): void {
  const all = table.rows.map((cells) => cells.map(shown));
  const kept = [...table.titles.keys()].filter((at) => all.some((cells) => cells[at] !== ""));
  if (kept.length === 0) return;
  const [titles = [], ...rows] = [table.titles, ...all].map((cells) =>
    kept.map((at) => cells[at]!),
  );
  const room = stdout.isTTY === true ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
  const free = room - gap.length * (kept.length - 1);
  const isWhole = titles.map((title) => table.whole?.includes(title) === true);
  const widths = fitted(naturalWidths([titles, ...rows]), free, isWhole);
  if (sum(widths) > free) {
    const cards = rows.map((cells) => ({
      title: "",
      fields: cells
        .map((cell, at): CardField => [titles[at]!, cell])
        .filter(([, cell]) => cell !== ""),
    }));
    printCard(stdout, cards, paint);
    return;
  }
  const isProse = table.prose === true && kept.at(-1) === table.titles.length - 1;
  const lines = rows.flatMap((cells) => {
    const [first = "", ...rest] = isProse ? wrapWords(cells.at(-1)!, widths.at(-1)!) : [];
    const below = " ".repeat(sum(widths.slice(0, -1)) + gap.length * (kept.length - 1));
    const placed = isProse ? [...cells.slice(0, -1), first] : cells;
    return [joined(placed, widths, (text) => paint.cell(text, text))].concat(
      rest.map((line) => below + line),
    );
  });
  const header = joined(titles, widths, (text) => paint.title(text));
  writePainted(stdout, `${[header, ...lines].join("\n")}\n`);
}

/** The cells of a line below their titles, without trailing spaces. */
function joined(
  cells: readonly string[],
  widths: readonly number[],
  paint: (text: string) => string,
): string {
  const last = cells.findLastIndex((text) => text !== "");
  return cells
    .slice(0, last + 1)
    .map((cell, at) => {
      const text = shorten(cell, widths[at]!);
      const space = at === last ? "" : " ".repeat(widths[at]! - stringWidth(text));
      return (text === "" ? "" : paint(text)) + space;
    })
    .join(gap);
}

function naturalWidths(rows: readonly (readonly string[])[]): readonly number[] {
  return rows[0]!.map((_, at) =>
    rows.reduce((most, cells) => Math.max(most, stringWidth(cells[at]!)), 1),
  );
}

/** Caps widths at the largest limit that makes them fit, down to their minimum. */
function fitted(
  widths: readonly number[],
  room: number,
  isWhole: readonly boolean[],
): readonly number[] {
  const capped = (limit: number): readonly number[] =>
    widths.map((width, at) => {
      if (isWhole[at] === true) return width;
      return Math.min(width, Math.max(limit, at === 0 ? narrowestFirst : 0));
    });
  let limit = Math.max(...widths, narrowest);
  while (limit > narrowest && sum(capped(limit)) > room) limit--;
  return capped(limit);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Makes untrusted text safe for one line of the terminal. */
function shown(text: string): string {
  return printable(cutLong(text)).replaceAll(/\s*\n\s*/g, " ");
}

export interface CardSection {
  readonly title: string;
  readonly fields: readonly CardField[];
}

export type CardField = readonly [label: string, text: string];

const indent = "  ";

/** Prints labelled fields in groups. Values wrap between words. */
export function printCard(
  stdout: TerminalStream,
  sections: readonly CardSection[],
  paint: Paint,
): void {
  const room = stdout.columns || 80;
  const filled = sections
    .filter(({ fields }) => fields.length > 0)
    .map(({ title, fields }) => {
      const margin = title === "" ? "" : indent;
      const heads = fields.map(([label]) => margin + printable(cutLong(label)));
      return { title, heads, texts: fields.map(([, text]) => text) };
    });
  const ends = filled.flatMap(({ heads }) => heads.map((head) => stringWidth(head) + gap.length));
  const near = ends.filter((end) => end <= room - narrowestValue);
  const column = near.length === 0 ? 2 * indent.length : Math.max(...near);
  const blocks = filled.map(({ title, heads, texts }) => {
    const heading = title === "" ? [] : [paint.title(title)];
    const lines = texts.flatMap((text, at) => fieldLines(heads[at]!, text, column, room, paint));
    return [...heading, ...lines].map((line) => `${line}\n`).join("");
  });
  writePainted(stdout, blocks.join("\n"));
}

/** A label and its value, from `column` on; below a label that is too long. */
function fieldLines(
  head: string,
  text: string,
  column: number,
  room: number,
  paint: Paint,
): readonly string[] {
  const space = " ".repeat(column);
  const [first = "", ...rest] = cutLong(text)
    .split("\n")
    .flatMap((line) => wrapWords(printable(line), Math.max(room - column, 1)))
    .map((line) => (line === "" ? "" : space + paint.cell(line, text)));
  const end = stringWidth(head);
  if (first !== "" && end + gap.length <= column) return [head + first.slice(end), ...rest];
  const heads = end > room ? wrapWords(head, room) : [head];
  return [...heads, ...(first === "" ? [] : [first]), ...rest];
}

/** Maximum text of a value on a terminal, in UTF-16 code units. `--json` has all of it. */
const longestValue = 2000;

function cutLong(text: string): string {
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

/** Shortens a text to `width` columns; `…` marks the cut. */
function shorten(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const [head] = wrapAnsi(text, width - 1, { hard: true, wordWrap: false, trim: false }).split(
    "\n",
  );
  return `${head}…`;
}

/** Wraps prose between words. Only a word that is longer than a line is split. */
export function wrapWords(text: string, width: number): readonly string[] {
  return wrapAnsi(text, width, { hard: true }).split("\n");
}
