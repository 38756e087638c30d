import { formatBytes, formatCount, wrapLines } from "../../core/text/quantity.js";
import { formatPath } from "../../webhooks/pql.js";
import { type CardField, printCard } from "./terminal-card.js";
import { once } from "node:events";
import type { CliContext } from "./cli-context.js";
import { type ColorChoice, paintFor } from "./colors.js";
import { TerminalTable } from "./terminal-table.js";

/** Prints records in the order they are added. */
export interface DataOutput<T> {
  add(record: T): Promise<void>;
  /** Prints buffered records. */
  end(): Promise<void>;
}

/** Columns of a table: title and cell. */
type DataColumns<T> = readonly (readonly [title: string, cell: (record: T) => string])[];

/** Whether to print JSON lines: with `--json`, or if stdout is not a terminal. */
export function wantsLines(json: boolean, { stdout }: Pick<CliContext, "stdout">): boolean {
  return json || stdout.isTTY !== true;
}

/** The part of a call that says where and how to print data. */
export interface OutputCall {
  readonly settings: { readonly json: boolean; readonly color?: ColorChoice | undefined };
  readonly context: Pick<CliContext, "stdout" | "signal" | "env">;
}

interface DataForm<T> {
  readonly toLine?: (record: T) => string;
  /** Whether the last column wraps instead of being shortened. */
  readonly prose?: boolean;
}

/** Prints records as JSON lines, or as a table on a terminal. */
export function dataOutput<T>(
  call: OutputCall,
  columns: DataColumns<T>,
  { toLine = JSON.stringify, prose = false }: DataForm<T> = {},
): DataOutput<T> {
  const { settings, context } = call;
  if (wantsLines(settings.json, context)) {
    return {
      add: (record) => writeOut(context, `${toLine(record)}\n`),
      end: () => Promise.resolve(),
    };
  }
  const table = new TerminalTable(
    context.stdout,
    columns.map(([title]) => title),
    paintFor(call),
    prose,
  );
  return {
    add: async (record) => table.add(columns.map(([, cell]) => cell(record))),
    end: async () => table.end(),
  };
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
  const { settings, context } = call;
  if (wantsLines(settings.json, context)) await writeOut(context, `${JSON.stringify(record)}\n`);
  else showFields(call, record);
}

/** The same for counts, with units on a terminal. */
export async function showCounts(call: OutputCall, record: object): Promise<void> {
  const shown = wantsLines(call.settings.json, call.context) ? record : withUnits(record);
  await showRecord(call, shown);
}

function withUnits(record: object): object {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      if (typeof value === "object" && value !== null) return [name, withUnits(value)];
      if (typeof value !== "number") return [name, value];
      return [name, name === "bytes" ? formatBytes(value) : formatCount(value)];
    }),
  );
}

/** Maximum number of fields to print on a terminal. */
const mostShown = 1000;

/**
 * Prints a record on a terminal, one field per line: its path in PQL syntax and its value. A list of
 * plain values is one field.
 */
function showFields(call: OutputCall, record: object): void {
  const fields: CardField[] = [];
  for (const { path, text } of fieldsOf(record)) {
    if (fields.length === mostShown) {
      fields.push(["…", "more with --json"]);
      break;
    }
    fields.push([formatPath(path), text]);
  }
  printCard(call.context.stdout, [{ title: "", fields }], paintFor(call));
}

interface Field {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** The leaf fields of a record, in order. */
function* fieldsOf(record: object, path: Field["path"] = []): Generator<Field, void, undefined> {
  const steps = Array.isArray(record) ? record.entries() : Object.entries(record);
  for (const [step, value] of steps) {
    const text = textOf(value);
    if (text === null) yield* fieldsOf(value as object, [...path, step]);
    else yield { path: [...path, step], text };
  }
}

/** Text of a leaf value; null for a value with fields. */
function textOf(value: unknown): string | null {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.every(isPlain)) return values.map((each) => String(each ?? "")).join(", ");
  return Object.keys(value as object).length === 0 ? "" : null;
}

/** Whether the value is a JSON scalar. */
function isPlain(value: unknown): value is string | number | boolean | null | undefined {
  return typeof value !== "object" || value === null;
}
