import { formatPath } from "../../webhooks/pql.js";
import { type OutputCall, wantsLines, writeOut } from "./data-output.js";
import { formatBytes, formatCount } from "../../core/text/quantity.js";
import { paintFor } from "./colors.js";
import { type CardField, printCard } from "./terminal-card.js";

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
