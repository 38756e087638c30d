import { formatPath } from "../../webhooks/pql.js";
import type { CliContext } from "../command.js";
import { type OutputCall, wantsLines, writeText } from "./data-output.js";
import { formatBytes, formatCount } from "../../core/quantity.js";
import { TerminalTable } from "./terminal-table.js";

/** Prints a record as one line of JSON, or one field per line on a terminal. */
export async function showRecord({ settings, context }: OutputCall, record: object): Promise<void> {
  if (wantsLines(settings.json, context)) await writeText(context, `${JSON.stringify(record)}\n`);
  else await showFields(context, record);
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
 * plain values takes one line.
 */
export async function showFields(
  context: Pick<CliContext, "stdout">,
  record: object,
): Promise<void> {
  const table = new TerminalTable(context, null);
  let left = mostShown;
  for (const { path, text } of fieldsOf(record)) {
    if (left-- === 0) {
      await table.add(["…", "more with --json"]);
      break;
    }
    await table.add([formatPath(path), text]);
  }
  await table.end();
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
