import type { FindingError, JsonObject } from "../../../core/finding.js";
import { UsageError } from "../../../core/errors.js";
import { recogniseItem } from "../../../core/item/recognise.js";
import { asObject, cellText, memberTexts, objectText } from "../../../core/json-members.js";
import { itemRow, type Row } from "../../../core/row.js";
import { type ColumnFlags, findColumns, recognisedKind } from "../columns/find-columns.js";
import { isListPath, matchColumn } from "../columns/name-columns.js";
import type { SampledColumn } from "../columns/rate-columns.js";
import {
  contentLines,
  flatMapLists,
  type Line,
  limits,
  mapLists,
  type TextBytes,
} from "../reading/lines.js";
import { isLong, Sample } from "../reading/sample.js";
import type {
  FormatReading,
  InputReading,
  ReadableFormat,
  ReadOptions,
  SourceLayout,
  WritableFormat,
} from "../types.js";
import { ndjsonEncoder, ndjsonRecords } from "./ndjson-output.js";

export const ndjson: ReadableFormat & WritableFormat = {
  extensions: ["ndjson", "jsonl", "json"],
  read,
  write: ndjsonEncoder,
  keepsReceived: (shape) => shape === "nested",
  records: ndjsonRecords,
};

async function read(bytes: TextBytes, options: ReadOptions): Promise<FormatReading> {
  const { startAt } = options;
  const comment = startAt?.reading.comment ?? options.comment;
  const lines = contentLines(bytes, (text) => comment !== null && text.startsWith(comment));
  const sample = new Sample(mapLists(lines, parseLine));
  const found = startAt ?? (await findLayout(bytes.name, sample, { ...options, comment }));
  const { columns, reading } = found;
  const toRows = rowMaker(columns, reading);
  return { columns, reading, rows: flatMapLists(sample.all(), toRows) };
}

const plain = { format: "ndjson", delimiter: null, spaced: false, header: "none" } as const;

function rowMaker(
  columns: readonly string[],
  { items, kind }: Pick<InputReading, "items" | "kind">,
): (line: ParsedLine) => readonly Row[] {
  let number = 0;
  return (parsed) => {
    const { line, json, object } = parsed;
    if (object === null) return [faultyRow(parsed, ++number, columns)];
    const word = kind === null ? "" : (itemTextOf(valuesAt(kind.name, object)[0]) ?? "");
    const kindText = kind?.by === "neighbour" ? recognisedKind(word) : word;
    const { cells, extra } = flatten(json, columns);
    const found = items.flatMap(({ name }) => {
      const values = valuesAt(name, object);
      // A record without a value has a row, too.
      return (values.length === 0 ? [""] : values).map((value) => ({ name, value }));
    });
    return found.map(({ name, value }, index) => {
      const item = itemTextOf(value);
      const row: Row = {
        number: ++number,
        cells,
        extra,
        json,
        itemText: item ?? "",
        itemNotText: item === null,
        kindText,
        fault: null,
        size: index === 0 ? line.size : 0,
      };
      return items.length === 1 ? row : Object.assign(row, { column: name });
    });
  };
}

/** Finds the layout from flags and the first objects. */
async function findLayout(
  input: string,
  lines: Sample<ParsedLine>,
  options: ColumnFlags & Pick<ReadOptions, "comment">,
): Promise<SourceLayout> {
  const objects = (): readonly JsonObject[] =>
    lines.read.flatMap(({ object }) => (object === null ? [] : [object]));
  let sampled: number = limits.sampleRecords;
  const isEnough = (count: number): boolean =>
    objects().length >= count ||
    lines.read.length > limits.linesBeforeObject ||
    isLong(lines.read.map(({ line }) => line));
  const isLonger = await lines.until(() => isEnough(1));
  const first = lines.read.find(({ object }) => object !== null);
  if (first === undefined && isLonger) {
    const { number } = lines.read.at(-1)!.line;
    const message = `${input} doesn't look like NDJSON: no JSON object up to line ${number}`;
    const hint = "set the format: --from csv|tsv|text";
    throw new UsageError("input_not_ndjson", message, { hint });
  }
  const columns = first === undefined ? [] : [...memberTexts(first.json).keys()];

  const found = await findColumns(
    {
      input,
      columns: () => columnsOf(objects().slice(0, sampled)),
      // A column, or a path that exists in the first records.
      names: () => columns,
      async named(wanted) {
        const column = matchColumn(columns, wanted);
        if (column !== null) return { name: column.name, index: -1 };
        // A list may be empty.
        const path = wanted.replace(/\[\]$/, "");
        const isThere = (): boolean =>
          objects()
            .slice(0, limits.objectsSearched)
            .some((object) => valuesAt(path, object).length > 0);
        await lines.until(() => isThere() || isEnough(limits.objectsSearched));
        return first === undefined || isThere() ? { name: wanted, index: -1 } : null;
      },
      async sample(count) {
        sampled = count;
        await lines.until(() => isEnough(count));
        return objects().length >= count;
      },
      isEmpty: () => first === undefined,
    },
    options,
  );
  return { columns, reading: { ...plain, comment: options.comment, ...found } };
}

/** All paths to values in the first objects, in order of appearance. */
function columnsOf(objects: readonly JsonObject[]): readonly SampledColumn[] {
  const paths = new Map<string, { readonly parent: string; readonly cells: (string | null)[] }>();
  for (const [row, object] of objects.entries()) {
    for (const [path, parent, value] of leavesIn(object)) {
      if (paths.size >= mostPaths && !paths.has(path)) continue;
      const column = paths.get(path) ?? { parent, cells: objects.map(() => "") };
      // A list is represented by a text with an item.
      const isRead = isListPath(path) && recogniseItem(column.cells[row] ?? "").item !== null;
      if (!isRead) column.cells[row] = itemTextOf(value);
      paths.set(path, column);
    }
  }
  const found = [...paths];
  const plain = found.filter(([path]) => !isListPath(path));
  const lists = found.filter(([path]) => isListPath(path));
  return [
    ...plain.map(([name, { parent, cells }], index) => ({
      name,
      cells,
      neighbours: [index - 1, index + 1].filter((other) => plain[other]?.[1].parent === parent),
    })),
    // The kind of an element is not that of a row.
    ...lists.map(([name, { cells }]) => ({ name, cells, neighbours: [] })),
  ];
}

/** Objects with more paths than this aren't records of indicators. */
const mostPaths = 1000;

/** A parsed line: an object, or the reason why it isn't one. */
interface ParsedLine {
  readonly line: Line;
  readonly json: string;
  readonly object: JsonObject | null;
  readonly reason: string;
}

function parseLine(line: Line): ParsedLine {
  // The comma of a list may follow.
  const json = line.text.trim().replace(/\}\s*,$/, "}");
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
function faultyRow({ line, reason }: ParsedLine, number: number, columns: readonly string[]): Row {
  const fault: FindingError = {
    code: "input_row",
    message: `line ${line.number} is not a JSON object: ${reason}`,
  };
  return {
    ...itemRow("", number, line.size),
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
function itemTextOf(value: unknown): string | null {
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof only === "string") return only;
  return value === undefined || value === null ? "" : null;
}

/** Deeper objects aren't records of indicators. */
const deepest = 8;

/** The texts in an object by path, such as `ip`, `ips[]` and `observables[].value`. */
export function leavesOf(json: string): ReadonlyMap<string, readonly string[]> {
  const leaves = new Map<string, string[]>();
  for (const [path, , value] of leavesIn(JSON.parse(json) as JsonObject)) {
    const text = itemTextOf(value);
    if (text === null || text === "") continue;
    const texts = leaves.get(path);
    if (texts === undefined) leaves.set(path, [text]);
    else texts.push(text);
  }
  return leaves;
}

/**
 * Each value that is no object, and each text in a list of several values or of objects: the path of
 * a list ends in `[]`.
 */
function* leavesIn(
  object: JsonObject,
  parent = "",
  depth = 1,
): Generator<readonly [path: string, parent: string, value: unknown]> {
  if (depth > deepest) return;
  for (const [name, value] of Object.entries(object)) {
    // A dot in a name would be read as a path separator.
    if (parent !== "" && name.includes(".")) continue;
    const path = parent + name;
    const member = asObject(value);
    if (member !== null) yield* leavesIn(member, `${path}.`, depth + 1);
    else yield [path, parent, value];
    const elements: readonly unknown[] = Array.isArray(value) ? value : [];
    for (const element of elements) {
      const listed = asObject(element);
      if (listed !== null) yield* leavesIn(listed, `${path}[].`, depth + 1);
      else if (elements.length > 1 && typeof element === "string")
        yield [`${path}[]`, parent, element];
    }
  }
}
