import { formatPath } from "../../webhooks/pql.js";
import type { CliContext } from "../command.js";
import { type OutputCall, wantsLines, writeText } from "./data-output.js";
import { formatBytes, formatCount } from "./quantity.js";
import { TerminalTable } from "./terminal-table.js";

/** Shows one record: a line of JSON, or field by field on a terminal. */
export async function showRecord({ settings, context }: OutputCall, record: object): Promise<void> {
  if (wantsLines(settings.json, context)) await writeText(context, `${JSON.stringify(record)}\n`);
  else await showFields(context, record);
}

/** The same for a record of counts: on a terminal they have the units of the summary. */
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

/** Most fields of a record that are shown on a terminal. */
const mostShown = 1000;

/**
 * Shows one record on a terminal, a line for each of its fields: the path to it, as it would stand
 * in a PQL field, and its value. A list of plain values stays on one line.
 */
export async function showFields(
  context: Pick<CliContext, "stdout">,
  record: object,
): Promise<void> {
  const table = new TerminalTable(context, { titles: null });
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

/** The fields of a record that have no fields of their own, in their order. */
function* fieldsOf(record: object): Generator<Field, void, undefined> {
  const waiting: { path: readonly (string | number)[]; value: unknown }[] = [
    { path: [], value: record },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, value } = next;
    const text = textOf(value);
    if (text !== null) {
      yield { path, text };
      continue;
    }
    const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(value as object);
    for (const step of steps.toReversed()) {
      const inner = (value as Record<string | number, unknown>)[step];
      waiting.push({ path: [...path, step], value: inner });
    }
  }
}

/** Text of a value that has a line of its own; null for one whose members have theirs. */
function textOf(value: unknown): string | null {
  if (Array.isArray(value)) {
    return value.every(isPlain) ? value.map(plainText).join(", ") : null;
  }
  if (isPlain(value)) return plainText(value);
  return Object.keys(value).length === 0 ? "" : null;
}

/** A value that JSON has beside objects and arrays. */
type Plain = string | number | boolean | null | undefined;

function isPlain(value: unknown): value is Plain {
  return typeof value !== "object" || value === null;
}

function plainText(value: Plain): string {
  return String(value ?? "");
}
