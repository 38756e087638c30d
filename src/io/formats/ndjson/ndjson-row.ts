import type { FindingError, JsonObject } from "../../../core/finding.js";
import { itemRow, type Row } from "../../../core/row.js";
import { asObject, cellText, memberTexts, objectText } from "../../../core/json-members.js";
import type { Line } from "../reading/lines.js";

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

interface FoundValue {
  readonly value: unknown;
  readonly column: string | undefined;
  readonly kindText: string;
}

/**
 * The row of a JSON object.
 *
 * @param continues whether more rows of the object follow
 */
export function objectRow(
  { line, json }: ParsedLine,
  number: number,
  columns: readonly string[],
  { value, column, kindText }: FoundValue,
  continues: boolean,
): Row {
  const item = itemTextOf(value);
  return {
    number,
    line: line.number,
    ...flatten(json, columns),
    json,
    itemText: item ?? "",
    itemNotText: item === null,
    kindText,
    fault: null,
    end: line.end,
    endLine: line.number,
    ...(column !== undefined && { column }),
    ...(continues && { continues }),
  };
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
