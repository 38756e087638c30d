import type { Column } from "../../../core/column.js";
import { addedColumns, columns, optionalColumnsIn } from "../../../core/columns.js";
import {
  lookupEndpoints,
  memberOf as resultMember,
  unasked,
  type FindingError,
  type JsonObject,
} from "../../../core/finding.js";
import { asObject, memberTexts, objectText, cellText } from "../../../core/json-members.js";
import { itemRow, type Row } from "../../../core/row.js";
import { joinedEntries } from "../column-types.js";
import type { RecordFormat, OutputRecord } from "../types.js";
import { type Line, splitLines } from "../reading/lines.js";

/** Reads rows of an existing output. Each object must end with repute's members. */
export const ndjsonRecords: RecordFormat = {
  header: false,
  split: splitLines,
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
    // Results are returned as received.
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
    list: (name) => {
      const value = valueOf(name);
      const texts = Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
      return joinedEntries(texts.join("|"));
    },
  };
}

function textIn(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : "";
}

function objectMembers(text: string): Map<string, string> | null {
  try {
    return asObject(JSON.parse(text)) === null ? null : memberTexts(text);
  } catch {
    return null;
  }
}

/** A parsed line: an object, or the reason why it isn't one. */
export interface ParsedLine {
  readonly line: Line;
  readonly json: string;
  readonly object: JsonObject | null;
  readonly reason: string;
}

export function parseLine(line: Line): ParsedLine {
  const json = line.text.trim();
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { line, json, object: null, reason };
  }
  const object = asObject(value);
  if (object !== null) return { line, json, object, reason: "" };
  const kind = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return { line, json, object: null, reason: `it is ${kind}` };
}

/** The row of a line that isn't a JSON object. `extra` holds the line. */
export function faultyRow(
  { line, reason }: ParsedLine,
  number: number,
  columns: readonly string[],
): Row {
  const fault: FindingError = {
    code: "input_row",
    message: `line ${line.number} is not a JSON object: ${reason}`,
  };
  return {
    ...itemRow("", { number, line: line.number, end: line.end }),
    cells: columns.map(() => ""),
    extra: JSON.stringify(line.text),
    fault,
  };
}

/** The cells of an object, and its other members as JSON. */
export function flatten(json: string, columns: readonly string[]): Pick<Row, "cells" | "extra"> {
  const members = memberTexts(json);
  const cells: string[] = [];
  for (const column of columns) {
    const value = members.get(column);
    cells.push(value === undefined ? "" : cellText(value));
    members.delete(column);
  }
  return { cells, extra: members.size === 0 ? null : objectText(members) };
}

/**
 * The values at a path: a member name, or names and array indexes joined with dots. `[]` after a step
 * stands for every element of a list.
 */
export function valuesAt(path: string, object: JsonObject): readonly unknown[] {
  // A member whose name contains dots takes precedence over the path.
  if (Object.hasOwn(object, path)) return [object[path]];
  let values: readonly unknown[] = [object];
  for (const step of path.split(".")) {
    const isEach = step.endsWith(each);
    const name = isEach ? step.slice(0, -each.length) : step;
    values = values.flatMap((value) => {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [];
      const member = (value as JsonObject)[name];
      // flatMap takes a list for its elements.
      return isEach ? member : [member];
    });
  }
  return values;
}

const each = "[]";

/**
 * The item text of a JSON value: a string, or the only string in an array; "" for null or a missing
 * value; null for anything else.
 */
export function itemTextOf(value: unknown): string | null {
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof only === "string") return only;
  return value === undefined || value === null ? "" : null;
}

/** Deeper objects aren't records of indicators. */
const deepest = 8;

/** The texts in an object by path, such as `ip`, `ips[]` and `observables[].value`. */
export function leavesOf(json: string): ReadonlyMap<string, readonly string[]> {
  const leaves = new Map<string, string[]>();
  eachLeaf(JSON.parse(json) as JsonObject, "", (path, _, value) => {
    const text = itemTextOf(value);
    if (text === null || text === "") return;
    const texts = leaves.get(path);
    if (texts === undefined) leaves.set(path, [text]);
    else texts.push(text);
  });
  return leaves;
}

/**
 * Calls `found` with each value that is no object, and with each text in a list of several values or
 * of objects: the path of a list ends in `[]`.
 */
export function eachLeaf(
  object: JsonObject,
  parent: string,
  found: (path: string, parent: string, value: unknown) => void,
  depth = 1,
): void {
  if (depth > deepest) return;
  for (const [name, value] of Object.entries(object)) {
    // A dot in a name would be read as a path separator.
    if (parent !== "" && name.includes(".")) continue;
    const path = parent + name;
    const member = asObject(value);
    if (member !== null) {
      eachLeaf(member, `${path}.`, found, depth + 1);
      continue;
    }
    found(path, parent, value);
    if (!Array.isArray(value)) continue;
    for (const element of value as readonly unknown[]) {
      const listed = asObject(element);
      if (listed !== null) eachLeaf(listed, `${path}[].`, found, depth + 1);
      else if (value.length > 1 && typeof element === "string") found(`${path}[]`, parent, element);
    }
  }
}
