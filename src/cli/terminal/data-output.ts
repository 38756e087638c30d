import { wrapLines } from "../../core/wording/printable.js";
import { formatPath } from "../../jobs/webhooks/render.js";
import { once } from "node:events";
import type { CliContext } from "./cli-context.js";
import { paintFor } from "./terminal-output.js";
import { type CardField, printCard, printTable } from "./terminal-table.js";

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
