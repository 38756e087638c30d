import { wrapLines, printable } from "../../core/wording/printable.js";
import { formatPath } from "../../jobs/webhooks/render.js";
import { once } from "node:events";
import type { CliContext } from "./cli-context.js";
import { paintFor, type Paint, type TerminalStream, writePainted } from "./terminal-output.js";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

type DataColumns<T> = readonly (readonly [title: string, cell: (record: T) => string])[];

/** Whether to print JSON lines: with `--json`, or if stdout is not a terminal. */
export function wantsLines({ settings, context }: OutputCall): boolean {
  return settings.json || context.stdout.isTTY !== true;
}

/** The part of a call that says where and how to print data. */
export interface OutputCall {
  readonly settings: { readonly json: boolean };
  readonly context: Pick<CliContext, "stdout" | "signal" | "env">;
}

interface DataForm<T> {
  readonly toLine?: (record: T) => string;
  /** Whether the last column wraps instead of being shortened. */
  readonly prose?: boolean;
  /** Titles of columns that are never shortened. */
  readonly whole?: readonly string[];
}

/** Prints records as JSON lines, each as it comes, or as a table on a terminal. */
export async function printRecords<T>(
  call: OutputCall,
  records: Iterable<T> | AsyncIterable<T>,
  columns: DataColumns<T>,
  { toLine = JSON.stringify, prose = false, whole = [] }: DataForm<T> = {},
): Promise<void> {
  const isLines = wantsLines(call);
  const rows: (readonly string[])[] = [];
  try {
    for await (const record of records) {
      if (isLines) await writeOut(call.context, `${toLine(record)}\n`);
      else rows.push(columns.map(([, cell]) => cell(record)));
    }
  } finally {
    const titles = columns.map(([title]) => title);
    printTable(call.context.stdout, { titles, rows, prose, whole }, paintFor(call.context));
  }
}

/** Prints sentences, wrapped between words on a terminal. */
export function writeProse(
  context: Pick<CliContext, "stdout" | "signal">,
  text: string,
  hanging?: number,
): Promise<void> {
  const { stdout } = context;
  const width = stdout.isTTY === true ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
  return writeOut(context, wrapLines(text, width, hanging));
}

/**
 * Writes to stdout and resolves once it can take more.
 *
 * @throws the signal's reason if it aborts first
 */
export async function writeOut(
  { stdout, signal }: Pick<CliContext, "stdout" | "signal">,
  text: string,
): Promise<void> {
  if (stdout.write(text)) return;
  await once(stdout, "drain", { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

/** Prints a record as one line of JSON, or one field per line on a terminal. */
export async function showRecord(call: OutputCall, record: object): Promise<void> {
  if (wantsLines(call)) return writeOut(call.context, `${JSON.stringify(record)}\n`);
  const fields = [...fieldsOf(record)];
  const shown = fields.slice(0, mostShown);
  if (fields.length > mostShown) shown.push(["…", "more with --json"]);
  printCard(call.context.stdout, [{ title: "", fields: shown }], paintFor(call.context));
}

/** Maximum number of fields to print on a terminal. */
const mostShown = 1000;

/** The leaf fields of a record, in order: path in PQL syntax and value. A list of plain values is one field. */
function* fieldsOf(
  record: object,
  path: readonly (string | number)[] = [],
): Generator<CardField, void, undefined> {
  const steps = Array.isArray(record) ? record.entries() : Object.entries(record);
  for (const [step, value] of steps) {
    const text = textOf(value);
    if (text === null) yield* fieldsOf(value as object, [...path, step]);
    else yield [formatPath([...path, step]), text];
  }
}

/** Text of a leaf value; null for a value with fields. */
function textOf(value: unknown): string | null {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.every(isPlain)) return values.map((each) => String(each ?? "")).join(", ");
  return Object.keys(value as object).length === 0 ? "" : null;
}

function isPlain(value: unknown): value is string | number | boolean | null | undefined {
  return typeof value !== "object" || value === null;
}

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
