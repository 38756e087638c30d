import stringWidth from "string-width";
import { printable } from "../../core/text/printable.js";
import type { TerminalStream } from "./terminal-output.js";
import { type Paint, writePainted } from "./colors.js";
import { type CardField, printCard, cutLong, shorten, wrapWords } from "./terminal-card.js";

const gap = "  ";
/** Minimum width of a shortened column, and of the first one: an IPv4 address. */
const narrowest = 8;
const narrowestFirst = 15;

export interface Table {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the last column is text to be read in full: it wraps between words. */
  readonly prose?: boolean;
}

/**
 * Prints a table. Empty columns are dropped. If lines would be too long for the terminal, the widest
 * columns are shortened; on a terminal too narrow even for that, each row becomes a card.
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
  const widths = fitted(naturalWidths([titles, ...rows]), free);
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
    const indent = " ".repeat(sum(widths.slice(0, -1)) + gap.length * (kept.length - 1));
    const placed = isProse ? [...cells.slice(0, -1), first] : cells;
    return [joined(placed, widths, (text) => paint.cell(text, text))].concat(
      rest.map((line) => indent + line),
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

/** Caps all widths at the largest limit that makes them fit, down to their minimum. */
function fitted(widths: readonly number[], room: number): readonly number[] {
  const capped = (limit: number): readonly number[] =>
    widths.map((width, at) => Math.min(width, Math.max(limit, at === 0 ? narrowestFirst : 0)));
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
