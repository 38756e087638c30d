import { once } from "node:events";
import stringWidth from "string-width";
import {
  cutOff,
  labelledText,
  printable,
  wrapLines,
  wrapText,
} from "../../core/wording/printable.js";
import { formatPath } from "../../jobs/webhooks/render.js";
import type { CliContext } from "./cli-context.js";
import { paintFor, type TerminalStream, writePainted } from "./terminal-output.js";

/** Columns of a table: titles, and members of a record or what makes a cell of it. */
type DataColumns<T> = readonly (readonly [
  title: string,
  cell: keyof T | ((record: T) => string),
])[];

function cellOf<T>(record: T, cell: DataColumns<T>[number][1]): string {
  return typeof cell === "function" ? cell(record) : String(record[cell] ?? "");
}

/** Whether to print JSON lines: with `--json`, or if stdout is not a terminal. */
export function wantsLines({ settings, context }: OutputCall): boolean {
  return settings.json || context.stdout.isTTY !== true;
}

export interface OutputCall {
  readonly settings: { readonly json: boolean };
  readonly context: Pick<CliContext, "stdout" | "signal" | "env">;
}

/** Prints records as JSON lines, each as it arrives, or as a table on a terminal. */
export async function printRecords<T>(
  call: OutputCall,
  records: Iterable<T> | AsyncIterable<T>,
  columns: DataColumns<T>,
  toLine: (record: T) => string = JSON.stringify,
): Promise<void> {
  const isLines = wantsLines(call);
  const rows: (readonly string[])[] = [];
  try {
    for await (const record of records) {
      if (isLines) await writeOut(call.context, `${toLine(record)}\n`);
      else rows.push(columns.map(([, cell]) => cellOf(record, cell)));
    }
  } finally {
    const titles = columns.map(([title]) => title);
    printTable(call.context, titles, rows);
  }
}

export function writeProse(
  context: Pick<CliContext, "stdout" | "signal">,
  text: string,
  hanging?: number,
): Promise<void> {
  return writeOut(context, wrapLines(text, widthOf(context.stdout), hanging));
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

/** Prints a record as one line of JSON; on a terminal, one field per line. */
export async function showRecord(call: OutputCall, record: object): Promise<void> {
  if (wantsLines(call)) return writeOut(call.context, `${JSON.stringify(record)}\n`);
  const fields = [...fieldsOf(record)];
  const shown = fields.slice(0, mostShown);
  if (fields.length > mostShown) shown.push(["…", "more with --json"]);
  printCards(call.context, [shown]);
}

const mostShown = 1000;

/** Path and value of each leaf field, in order: `references[0].url`. A list of plain values is one field. */
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

type CardField = readonly [label: string, text: string];

const gap = "  ";
/** Minimum width of a table's last column: fits a time in RFC 3339. */
const narrowest = 24;

type Screen = Pick<CliContext, "stdout" | "env">;

function widthOf(stdout: TerminalStream): number {
  return stdout.isTTY === true ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

/**
 * Prints a table. Empty columns are dropped, and the last one wraps between words. On a terminal too
 * narrow for that, each row becomes a card.
 */
export function printTable(
  screen: Screen,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const all = rows.map((cells) => cells.map((text) => shown(text).replaceAll(/\s*\n\s*/g, " ")));
  const kept = [...titles.keys()].filter((at) => all.some((cells) => cells[at] !== ""));
  if (kept.length === 0) return;
  const table = [titles, ...all].map((cells) => kept.map((at) => cells[at]!));
  const widths = kept.map((_, at) => Math.max(...table.map((cells) => stringWidth(cells[at]!))));
  const last = widths.length - 1;
  const column = widths.slice(0, last).reduce((sum, width) => sum + width + gap.length, 0);
  const room = widthOf(screen.stdout) - column;
  if (room < Math.min(widths[last]!, narrowest)) {
    const [names = [], ...lines] = table;
    const cards = lines.map((cells) => cells.map((cell, at): CardField => [names[at]!, cell]));
    printCards(
      screen,
      cards.map((fields) => fields.filter(([, cell]) => cell !== "")),
    );
    return;
  }
  const paint = paintFor(screen);
  const lines = table.map((cells, row) => {
    const padded = cells.map((cell, at) => {
      const space = at === last ? "" : " ".repeat(widths[at]! - stringWidth(cell));
      const text =
        at === last ? wrapText(cell, room).replaceAll("\n", `\n${" ".repeat(column)}`) : cell;
      return paint(text, row === 0 ? null : cell) + space;
    });
    return `${padded.join(gap).trimEnd()}\n`;
  });
  writePainted(screen.stdout, lines.join(""));
}

/** Prints each field beside its label, or below a long one, with an empty line between cards. */
function printCards(screen: Screen, cards: readonly (readonly CardField[])[]): void {
  const paint = paintFor(screen);
  const room = screen.stdout.columns || 80;
  const ends = cards.flat().map(([label]) => shown(label).length + gap.length);
  const column = Math.max(4, ...ends.filter((end) => end <= room / 2));
  const blocks = cards.map((fields) =>
    fields
      .map(([label, text]) => {
        const value = paint(shown(text), text);
        return `${labelledText(shown(label), value, column, room).trimEnd()}\n`;
      })
      .join(""),
  );
  writePainted(screen.stdout, blocks.join("\n"));
}

/** Maximum length of a value on a terminal, in UTF-16 code units. `--json` prints all of it. */
const longestValue = 2000;

/** Makes untrusted text safe for the terminal, and cuts it if it is very long. */
function shown(text: string): string {
  return printable(cutOff(text, longestValue));
}
