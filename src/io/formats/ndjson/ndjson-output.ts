import { type Column, memberIn } from "../../../core/column.js";
import { addedColumns, columns, optionalColumnsIn } from "../../../core/columns.js";
import { FatalError } from "../../../core/errors.js";
import { lookupEndpoints, memberOf as resultMember, unasked } from "../../../core/finding.js";
import { asObject, memberTexts, objectText } from "../../../core/json-members.js";
import { itemRow } from "../../../core/row.js";
import { addedMemberName } from "../added-names.js";
import { joinedEntries } from "../column-types.js";
import { countRows } from "../count-rows.js";
import type { CountOptions, RecordFormat, OutputRecord, RecordCounter } from "../types.js";

export function countNdjson({ prefix, shape }: CountOptions): RecordCounter {
  return shape === "nested" ? countJson([addedMemberName(prefix, [])]) : countJson([], prefix);
}

/**
 * Counts JSON rows, one per line.
 * @param within path of members to the object with status and verdict
 * @param prefix prefix of those two names
 */
export function countJson(within: readonly string[], prefix = ""): RecordCounter {
  return countRows((record, row) => {
    let value: unknown = parseRow(record, row);
    for (const name of within) value = memberIn(value, name);
    return {
      status: memberIn(value, `${prefix}status`),
      verdict: memberIn(value, `${prefix}verdict`),
    };
  });
}

function parseRow(record: Buffer, row: number): unknown {
  try {
    return JSON.parse(record.toString());
  } catch (error) {
    throw new FatalError("output_corrupt", `row ${row} of the output is not JSON`, {
      cause: error,
    });
  }
}

/** Reads rows of an existing output. Each object must end with repute's members. */
export const ndjsonRecords: RecordFormat = {
  header: false,
  layout(first, prefix) {
    const member = prefix.replace(/_$/, "");
    const members = objectMembers(first);
    if (members === null) return null;
    const nested = members.has(member);
    const own = nested ? objectMembers(members.get(member) ?? "") : members;
    if (own?.has(nested ? "verdict" : `${prefix}status`) !== true) return null;
    const optional = nested
      ? { file: own.has("file"), column: own.has("column") }
      : optionalColumnsIn([...members.keys()], prefix);
    const added = addedColumns(optional);
    return {
      inputColumns: [],
      delimiter: null,
      shape: nested ? "nested" : "flat",
      optional,
      read: nested ? (text) => readNested(text, member) : (text) => readFlat(text, prefix, added),
    };
  },
};

function readNested(text: string, member: string): OutputRecord | null {
  const members = objectMembers(text);
  const own = members?.get(member);
  if (members === null || own === undefined) return null;
  members.delete(member);
  const rep = JSON.parse(own) as Record<string, unknown>;
  const error = rep["error"] as Record<string, unknown> | null;
  const values: Record<string, unknown> = {
    ...rep,
    error_code: error?.["code"],
    error: error?.["message"],
  };
  const valueOf = (name: string): unknown => {
    // Results are told as received.
    if (resultMembers.has(name)) return asObject(rep[name]) && memberTexts(own).get(name);
    return Object.hasOwn(values, name) ? values[name] : columnIn(rep, name);
  };
  return {
    ...readers(valueOf),
    cells: [],
    json: objectText(members),
    extra: rep["extra"] === undefined ? null : (memberTexts(own).get("extra") ?? null),
  };
}

const resultMembers: ReadonlySet<string> = new Set(lookupEndpoints.map(resultMember));

function columnIn(rep: Readonly<Record<string, unknown>>, name: string): unknown {
  const answers = Object.fromEntries(
    lookupEndpoints.flatMap((endpoint) => {
      const result = asObject(rep[resultMember(endpoint)]);
      return result === null ? [] : [[endpoint, { result }]];
    }),
  );
  const finding = { ...unasked("complete", null), answers };
  return columns.find((column) => column.name === name)?.value({ row: noRow, item: null, finding });
}

const noRow = itemRow("", { number: 0, line: 0, end: 0 });

function readFlat(text: string, prefix: string, columns: readonly Column[]): OutputRecord | null {
  const members = objectMembers(text);
  if (members === null) return null;
  const values = new Map<string, unknown>();
  for (const { name } of columns) {
    const value = members.get(prefix + name);
    if (value === undefined) return null;
    values.set(name, JSON.parse(value));
    members.delete(prefix + name);
  }
  return {
    ...readers((name) => values.get(name)),
    cells: [],
    json: objectText(members),
    extra: textIn(values.get("extra")) || null,
  };
}

function readers(valueOf: (name: string) => unknown): Pick<OutputRecord, "text" | "list"> {
  return {
    text: (name) => textIn(valueOf(name)),
    list: (name) => joinedEntries(textsIn(valueOf(name)).join("|")),
  };
}

function textIn(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : "";
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

function objectMembers(text: string): Map<string, string> | null {
  try {
    return asObject(JSON.parse(text)) === null ? null : memberTexts(text);
  } catch {
    return null;
  }
}
