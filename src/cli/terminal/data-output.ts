import { once } from "node:events";
import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import stringWidth from "string-width";
import {
  cutOff,
  labelledText,
  printable,
  printableData,
  wrapLines,
  wrapText,
} from "../../core/wording/printable.js";
import { ExactNumber, jsonText } from "../../core/json-members.js";
import { formatPath } from "../../jobs/webhooks/render.js";
import type { CliContext } from "./cli-context.js";
import type { TerminalStream } from "./reporter.js";

/** Columns of a table by title: the member to show, or a function that returns the cell. */
type DataColumns<T> = Readonly<Record<string, keyof T | ((record: T) => string)>>;

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
  toLine: (record: T) => string = jsonText,
): Promise<void> {
  const isLines = wantsLines(call);
  const cells = Object.values(columns);
  const rows: (readonly string[])[] = [];
  try {
    for await (const record of records) {
      if (isLines) await writeOut(call.context, `${toLine(record)}\n`);
      else rows.push(cells.map((cell) => cellOf(record, cell)));
    }
  } finally {
    printTable(call.context, Object.keys(columns), rows);
  }
}

function cellOf<T>(record: T, cell: DataColumns<T>[string]): string {
  return typeof cell === "function" ? cell(record) : String(record[cell] ?? "");
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
  if (wantsLines(call)) return writeOut(call.context, `${jsonText(record)}\n`);
  printCards(call.context, [[...fieldsOf(record)]]);
}

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
  return typeof value !== "object" || value === null || value instanceof ExactNumber;
}

type CardField = readonly [label: string, text: string];

const gap = "  ";
/** Minimum width of a table's last column: fits a time in RFC 3339. */
const narrowest = 24;

type Screen = Pick<CliContext, "stdout" | "env">;

/** Width in columns; infinite without a terminal, so that nothing wraps. */
export function widthOf(stdout: TerminalStream): number {
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

/** Keeps data from controlling the terminal: control and bidirectional characters print as `<U+001B>`. */
export class TerminalOutput extends Writable implements TerminalStream {
  readonly isTTY = true;
  readonly #terminal: TerminalStream;
  readonly #decoder = new StringDecoder();
  /** A carriage return at the end of the last chunk: a line feed may follow. */
  #held = "";

  constructor(terminal: TerminalStream) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
  }

  get columns(): number {
    return this.#terminal.columns ?? 0;
  }

  /** Writes escaped text at once. No earlier write may be pending, or this overtakes it. */
  writeEscaped(text: string): void {
    this.#terminal.write(text);
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    const text = this.#held + (typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    this.#held = text.endsWith("\r") ? "\r" : "";
    const whole = text.slice(0, text.length - this.#held.length);
    // Errors surface as `error` events of the terminal itself.
    if (this.#terminal.write(printableData(whole))) done();
    else this.#terminal.once("drain", done);
  }
}

export function safeOnTerminal(stream: TerminalStream): TerminalStream {
  return stream.isTTY === true ? new TerminalOutput(stream) : stream;
}

/** Writes text coloured by `paintFor`. The caller escapes the data in it. */
function writePainted(stdout: TerminalStream, text: string): void {
  if (stdout instanceof TerminalOutput) stdout.writeEscaped(text);
  else stdout.write(text);
}

/** Select Graphic Rendition (ECMA-48): red, yellow, blue. */
const verdictColors: ReadonlyMap<string, number> = new Map([
  ["malicious", 31],
  ["suspicious", 33],
  ["listed", 34],
]);

const bold = 1;

/**
 * Returns a function that colours cells: titles (`value` null) and verdicts; others stay plain.
 * FORCE_COLOR overrides NO_COLOR, as in Node.js; without them, only a capable terminal gets colours.
 */
export function paintFor({ stdout, env }: Screen): (text: string, value: string | null) => string {
  if (!usesColor(env, stdout)) return (text) => text;
  return (text, value) => {
    const style = value === null ? bold : verdictColors.get(value);
    return style === undefined ? text : `\u001B[${style}m${text}\u001B[0m`;
  };
}

function usesColor(env: Screen["env"], stream: TerminalStream): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  return stream.isTTY === true && (env["TERM"] ?? "dumb") !== "dumb";
}
