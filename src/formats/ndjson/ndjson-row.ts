import type { FindingError, JsonObject } from "../../core/finding.js";
import { itemRow, type Row } from "../../core/row.js";
import { cellText, memberTexts, objectText } from "../../core/json-members.js";
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
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { line, json, object: value as JsonObject, reason: "" };
  }
  const kind = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return { line, json, object: null, reason: `it is ${kind}` };
}

/**
 * A row from a JSON object. Its cells are parsed on first use, which a run from NDJSON to NDJSON
 * never needs.
 */
export class NdjsonRow implements Row {
  readonly number: number;
  readonly line: number;
  readonly json: string;
  readonly itemText: string;
  readonly itemNotText: boolean;
  readonly kindText: string;
  readonly fault = null;
  readonly end: number;
  readonly endLine: number;
  declare readonly column?: string;
  declare readonly continues?: boolean;
  readonly #columns: readonly string[];
  #flat: Flat | null = null;

  /**
   * @param item null for a value that isn't text
   * @param place among the rows of its record, with several
   */
  constructor(
    { line, json }: ParsedLine,
    number: number,
    columns: readonly string[],
    item: string | null,
    kind: string,
    place?: Pick<Row, "column" | "continues">,
  ) {
    this.number = number;
    this.line = line.number;
    this.json = json;
    this.itemText = item ?? "";
    this.itemNotText = item === null;
    this.kindText = kind;
    this.end = line.end;
    this.endLine = line.number;
    this.#columns = columns;
    if (place !== undefined) Object.assign(this, place);
  }

  get cells(): readonly string[] {
    this.#flat ??= flatten(this.json, this.#columns);
    return this.#flat.cells;
  }

  get extra(): string | null {
    this.#flat ??= flatten(this.json, this.#columns);
    return this.#flat.extra;
  }
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
export interface Flat {
  readonly cells: readonly string[];
  readonly extra: string | null;
}

export function flatten(json: string, columns: readonly string[]): Flat {
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
 * Path to values in JSON objects: a member name, or names and array indexes joined with dots. `[]`
 * after a step stands for every element of a list.
 */
export class MemberPath {
  readonly name: string;
  readonly #steps: readonly string[];

  constructor(name: string) {
    this.name = name;
    this.#steps = name.split(".");
  }

  /** Whether the path may lead to any number of values. */
  get isList(): boolean {
    return this.#steps.some((step) => step.endsWith(each));
  }

  /** The values at the path, which goes through every element of its lists. */
  valuesIn(object: JsonObject): readonly unknown[] {
    if (!this.isList || Object.hasOwn(object, this.name)) {
      const value = this.valueIn(object);
      return value === undefined ? [] : [value];
    }
    let values: readonly unknown[] = [object];
    for (const step of this.#steps) {
      const isEach = step.endsWith(each);
      const name = isEach ? step.slice(0, -each.length) : step;
      values = values.flatMap((value) => {
        if (!isParent(value) || !Object.hasOwn(value, name)) return [];
        const member = value[name];
        // flatMap takes a list for its elements.
        return isEach ? member : [member];
      });
    }
    return values;
  }

  /** The value at the path; undefined if the object has none. */
  valueIn(object: JsonObject): unknown {
    // A member whose name contains dots takes precedence over the path.
    if (Object.hasOwn(object, this.name)) return object[this.name];
    if (this.#steps.length === 1) return undefined;
    let value: unknown = object;
    for (const step of this.#steps) {
      if (!isParent(value) || !Object.hasOwn(value, step)) return undefined;
      value = value[step];
    }
    return value;
  }
}

const each = "[]";

function isParent(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null;
}

/**
 * The item text of a JSON value: a string, or the only string in an array; "" for null or a missing
 * value; null for anything else.
 */
export function itemTextOf(value: unknown): string | null {
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof only === "string") return only;
  return value === undefined || value === null ? "" : null;
}
