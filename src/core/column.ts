import type { MemberColumn, Result } from "./endpoints/endpoint.js";
import type { JsonObject, LookupEndpoint } from "./finding.js";
import type { EnrichedRow } from "./row.js";

/** Types of the added columns; `formats/column-types.ts` has what each output makes of them. */
export type ColumnType = "text" | "boolean" | "count" | "number" | "timestamp" | "text[]" | "json";

export type ColumnValue = string | number | boolean | readonly string[] | null;

export interface Column {
  /** Name without the prefix, e.g. `item` for `rep_item`. */
  readonly name: string;
  readonly type: ColumnType;
  readonly description: string;
  readonly value: (enriched: EnrichedRow) => ColumnValue;
  readonly origin: Origin | null;
}

interface Origin extends Pick<MemberColumn, "path" | "read" | "restore"> {
  readonly endpoint: LookupEndpoint;
}

/** Reads a column's value from an enriched row; a value of the wrong type becomes null. */
type Read = (enriched: EnrichedRow) => unknown;

export const columnOf = {
  text: columnsOf("text", stringIn),
  time: columnsOf("timestamp", stringIn),
  bool: columnsOf("boolean", (value) => (typeof value === "boolean" ? value : null)),
  count: columnsOf("count", (value) => {
    if (Array.isArray(value)) return value.length;
    return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
  }),
  number: columnsOf("number", (value) => (Number.isFinite(value) ? (value as number) : null)),
  list: columnsOf("text[]", (value) =>
    Array.isArray(value) ? (value.every(isString) ? value : value.filter(isString)) : null,
  ),
};

function columnsOf(type: ColumnType, valueIn: (value: unknown) => ColumnValue) {
  return (name: string, description: string, from: Read | Origin): Column => {
    const origin = typeof from === "function" ? null : from;
    const read = typeof from === "function" ? from : readerOf(from);
    return { name, type, description, value: (enriched) => valueIn(read(enriched)), origin };
  };
}

function readerOf({ endpoint, path, read = asIs }: Origin): Read {
  return ({ finding }) => {
    const result = finding.answers[endpoint]?.result;
    if (result === undefined) return undefined;
    let value: unknown = result;
    for (const name of path) value = (value as Result | null | undefined)?.[name];
    return read(value, result);
  };
}

function asIs(value: unknown): unknown {
  return value;
}

/**
 * Rebuilds the result of a lookup from the values of its columns. It has no other members.
 *
 * @param missing members that are null whatever the columns say
 */
export function resultFrom(
  columns: readonly Column[],
  endpoint: LookupEndpoint,
  valueOf: (column: Column) => ColumnValue,
  missing: readonly string[],
): JsonObject {
  const result: Record<string, unknown> = {};
  for (const column of columns) {
    if (column.origin?.endpoint !== endpoint) continue;
    const { path, restore = asIs } = column.origin;
    const [first = "", ...rest] = path;
    const value = valueOf(column);
    let [parent, name] = [result, first];
    if (missing.includes(first)) {
      result[first] = null;
      continue;
    }
    for (const next of rest) {
      parent = (parent[name] ??= {}) as Record<string, unknown>;
      name = next;
    }
    parent[name] = value === null ? null : restore(value);
  }
  return result;
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function stringIn(value: unknown): string | null {
  return isString(value) ? value : null;
}
