import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { printable } from "../../core/text/printable.js";
import { wrapText } from "../../core/text/quantity.js";
import type { TerminalStream } from "./terminal-output.js";
import { type Paint, writePainted } from "./colors.js";

export interface CardSection {
  readonly title: string;
  readonly fields: readonly CardField[];
}

export type CardField = readonly [label: string, text: string];

const indent = "  ";
const gap = 2;
/** Room that a value needs beside its label, else it goes below: a time in RFC 3339. */
const narrowest = 24;

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
  const ends = filled.flatMap(({ heads }) => heads.map((head) => stringWidth(head) + gap));
  const near = ends.filter((end) => end <= room - narrowest);
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
  if (first !== "" && end + gap <= column) return [head + first.slice(end), ...rest];
  const heads = end > room ? wrapWords(head, room) : [head];
  return [...heads, ...(first === "" ? [] : [first]), ...rest];
}

/** Maximum text of a value on a terminal, in UTF-16 code units. `--json` has all of it. */
const longestValue = 2000;

export function cutLong(text: string): string {
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

/** Shortens a text to `width` columns; `…` marks the cut. */
export function shorten(text: string, width: number): string {
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

/** Width below which lines go below their labels. */
const narrow = 60;

/** Labels with their lines beside or, on a narrow terminal, below them. Without lines, a label is left out. */
export function labelled(
  entries: readonly (readonly [label: string, lines: readonly string[]])[],
  room: number,
  margin = "",
): string {
  const shown = entries.filter(([, lines]) => lines.length > 0);
  const isNarrow = room < narrow;
  const widest = isNarrow ? 0 : Math.max(...shown.map(([label]) => label.length));
  const column = margin.length + widest + 2;
  const indentation = " ".repeat(column);
  return shown
    .map(([label, lines]) => {
      const wrapped = lines.map((line) => wrapText(line, Math.max(room - column, 30))).join("\n");
      const head = isNarrow ? `${margin}${label}\n${indentation}` : (margin + label).padEnd(column);
      return head + wrapped.replaceAll("\n", `\n${indentation}`);
    })
    .join("\n");
}
