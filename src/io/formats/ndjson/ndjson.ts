import { recognisedKind, type ColumnFlags, findColumns } from "../columns/find-columns.js";
import { type Row, type EnrichedRow, nestedFacts, nestedText } from "../../../core/row.js";
import type { SampledColumn } from "../columns/rate-columns.js";
import { contentLines, flatMapLists, limits, mapLists } from "../reading/lines.js";
import { Sample } from "../reading/sample.js";
import type {
  FormatReading,
  InputReading,
  ReadableFormat,
  Reading,
  ReadOptions,
  WritableFormat,
  Encoder,
  EncoderOptions,
} from "../types.js";
import {
  ndjsonRecords,
  eachLeaf,
  faultyRow,
  flatten,
  itemTextOf,
  type ParsedLine,
  parseLine,
  valuesAt,
} from "./ndjson-output.js";
import { UsageError } from "../../../core/errors.js";
import type { JsonObject } from "../../../core/finding.js";
import { recogniseItem } from "../../../core/item/recognise.js";
import { memberTexts } from "../../../core/json-members.js";
import {
  isListPath,
  matchColumn,
  unknownColumn,
  addedColumnNames,
  addedMemberName,
} from "../columns/name-columns.js";
import { toWellFormed } from "../../../core/bytes.js";
import type { Column } from "../../../core/column.js";
import { columns } from "../../../core/columns.js";
import { jsonLinesEncoder } from "../lines-encoder.js";

export const ndjson: ReadableFormat & WritableFormat = {
  extensions: ["ndjson", "jsonl", "json"],
  read,
  write: ndjsonEncoder,
  keepsReceived: (shape) => shape === "nested",
  records: ndjsonRecords,
};

async function read(
  { bytes, before, settled }: Reading,
  options: ReadOptions,
): Promise<FormatReading> {
  const comment = settled?.reading.comment ?? options.comment;
  const lines = contentLines(
    bytes,
    before?.line ?? 0,
    (text) => comment !== null && text.startsWith(comment),
  );
  const sample = new Sample(mapLists(lines, parseLine));
  const found = settled ?? (await findLayout(bytes.name, sample, { ...options, comment }));
  const { columns, reading } = found;
  const toRows = rowMaker(columns, reading, before?.row ?? 0);
  return { columns, reading, rows: flatMapLists(sample.all(), toRows) };
}

const plain = { format: "ndjson", delimiter: null, spaced: false, header: "none" } as const;

function rowMaker(
  columns: readonly string[],
  { items, kind }: Pick<InputReading, "items" | "kind">,
  rowsBefore: number,
): (line: ParsedLine) => readonly Row[] {
  let number = rowsBefore;
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
    const rows: Row[] = [];
    for (const [index, { name, value }] of found.entries()) {
      const item = itemTextOf(value);
      rows.push({
        number: ++number,
        line: line.number,
        cells,
        extra,
        json,
        itemText: item ?? "",
        itemNotText: item === null,
        kindText,
        fault: null,
        end: line.end,
        endLine: line.number,
        ...(items.length > 1 && { column: name }),
        ...(index < found.length - 1 && { continues: true }),
      });
    }
    return rows;
  };
}

/**
 * Finds the layout from flags and the first objects.
 * @throws UsageError `column_not_found`, `column_ambiguous`, and
 *   `input_not_ndjson` if the first lines contain no object
 */
async function findLayout(
  input: string,
  lines: Sample<ParsedLine>,
  options: ColumnFlags & Pick<ReadOptions, "comment">,
): Promise<Pick<FormatReading, "columns" | "reading">> {
  const objects = (): readonly JsonObject[] =>
    lines.read.flatMap(({ object }) => (object === null ? [] : [object]));
  let sampled: number = limits.sampleRecords;
  const isEnough = (count: number): boolean =>
    objects().length >= count || lines.read.length > limits.linesBeforeObject || isLong(lines.read);
  await lines.until(() => isEnough(1));
  const first = lines.read.find(({ object }) => object !== null);
  if (first === undefined && !lines.ended) throw notNdjson(input, lines.read.at(-1)!.line.number);
  const columns = first === undefined ? [] : [...memberTexts(first.json).keys()];

  const found = await findColumns(
    {
      input,
      columns: () => columnsOf(objects().slice(0, sampled)),
      placeOf: (item, sampled) => sampled.findIndex(({ name }) => name === item.name),
      // A column, or a path that exists in the first records.
      async named(flag) {
        const column = matchColumn(columns, flag.wanted);
        if (column !== null) return { name: column.name, index: 0 };
        // A list may be empty.
        const path = flag.wanted.replace(/\[\]$/, "");
        const isThere = (): boolean =>
          objects()
            .slice(0, limits.objectsSearched)
            .some((object) => valuesAt(path, object).length > 0);
        await lines.until(() => isThere() || isEnough(limits.objectsSearched));
        if (first !== undefined && !isThere()) throw unknownColumn(input, columns, flag);
        return { name: flag.wanted, index: 0 };
      },
      async sample(count) {
        sampled = count;
        await lines.until(() => isEnough(count));
        return objects().length >= count;
      },
      // Without any object there is no item to find, and nothing to look up.
      withoutRecords: () =>
        first === undefined ? { name: "item", index: 0, by: "name", sample: null } : null,
    },
    options,
  );
  return { columns, reading: { ...plain, comment: options.comment, ...found } };
}

function isLong(lines: readonly ParsedLine[]): boolean {
  const [first, last] = [lines[0], lines.at(-1)];
  return first !== undefined && last!.line.end - first.line.end > limits.recordBytes;
}

function notNdjson(input: string, line: number): UsageError {
  return new UsageError(
    "input_not_ndjson",
    `${input} doesn't look like NDJSON: no JSON object up to line ${line}`,
    { hint: "set the format: --from csv|tsv|text" },
  );
}

/** All paths to values in the first objects, in order of appearance. */
function columnsOf(objects: readonly JsonObject[]): readonly SampledColumn[] {
  const paths = new Map<string, { readonly parent: string; readonly cells: (string | null)[] }>();
  objects.forEach((object, row) => {
    eachLeaf(object, "", (path, parent, value) => {
      if (paths.size >= mostPaths && !paths.has(path)) return;
      const column = paths.get(path) ?? { parent, cells: objects.map(() => "") };
      // A list is represented by a text with an item.
      const isRead = isListPath(path) && recogniseItem(column.cells[row] ?? "").item !== null;
      if (!isRead) column.cells[row] = itemTextOf(value);
      paths.set(path, column);
    });
  });
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

/**
 * Writes one JSON object per line: the input's members unchanged, then one member with everything
 * as received (nested) or one member per column (flat).
 *
 * The text of an NDJSON record is copied, so that numbers keep their digits and members their
 * order.
 */
export function ndjsonEncoder(options: EncoderOptions): Encoder {
  const added =
    options.shape === "nested"
      ? [addedMemberName(options.prefix, options.columns)]
      : addedColumnNames(options.prefix, options.columns, options.added);
  const keys = memberKeys(options.columns);
  const describe =
    options.shape === "nested" ? nested(added[0] ?? "rep") : flat(added, options.added ?? columns);

  const encodeRow = (enriched: EnrichedRow): string => {
    const own = inputMembers(enriched.row, keys, added);
    return `{${own.text}${own.text === "" ? "" : ","}${describe(enriched, own.displaced)}}\n`;
  };

  return jsonLinesEncoder(encodeRow);
}

/** Unique member names for columns whose names may be empty, repeat, or not be UTF-8. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const texts = names.map(toWellFormed);
  const taken = new Set<string>(texts);
  const seen = new Set<string>();
  return texts.map((name, index) => {
    const base = name === "" ? `column_${index + 1}` : name;
    let unique = base;
    for (let n = 2; seen.has(unique) || (unique !== name && taken.has(unique)); n++) {
      unique = `${base}_${n}`;
    }
    seen.add(unique);
    return unique;
  });
}

/** The start of each member, `"name":`. A repeated name gets a number. */
export function memberKeys(columns: readonly string[]): readonly string[] {
  return uniqueNames(columns).map((name) => `${JSON.stringify(name)}:`);
}

interface InputMembers {
  readonly text: string;
  /** Members replaced by added ones of the same name; null if none. */
  readonly displaced: Record<string, unknown> | null;
}

function inputMembers(row: Row, keys: readonly string[], added: readonly string[]): InputMembers {
  if (row.json !== null) {
    // Cheap, without false negatives: an escaped name contains a backslash.
    const { json } = row;
    if (json.includes("\\u") || added.some((name) => json.includes(`"${name}"`))) {
      const settled = moveClashes(row.json, added);
      if (settled !== null) return settled;
    }
    return { text: row.json.slice(1, -1).trim(), displaced: null };
  }
  return { text: row.fault === null ? cellMembers(row, keys) : "", displaced: null };
}

export function cellMembers({ cells }: Row, keys: readonly string[]): string {
  let text = "";
  for (let index = 0; index < keys.length; index++) {
    text += (index > 0 ? "," : "") + keys[index]! + JSON.stringify(cells[index] ?? "");
  }
  return text;
}

/**
 * Moves members of a later record that clash with added ones to `extra`, so that nothing is lost.
 */
function moveClashes(json: string, added: readonly string[]): InputMembers | null {
  const record = JSON.parse(json) as Record<string, unknown>;
  const displaced: Record<string, unknown> = {};
  for (const name of added) {
    if (!Object.hasOwn(record, name)) continue;
    displaced[name] = record[name];
    delete record[name];
  }
  if (Object.keys(displaced).length === 0) return null;
  return { text: JSON.stringify(record).slice(1, -1), displaced };
}

type Describe = (enriched: EnrichedRow, displaced: Record<string, unknown> | null) => string;

function nested(member: string): Describe {
  const key = JSON.stringify(member) + ":";
  return ({ row, item, finding }, displaced) => {
    let facts = nestedText(nestedFacts(item, finding), finding);
    for (const name of ["file", "column"] as const) {
      const value = row[name];
      if (value !== undefined) facts = `${facts.slice(0, -1)},"${name}":${JSON.stringify(value)}}`;
    }
    // `extra` of a cell-based source is already JSON; an NDJSON record has all its members above.
    const surplus = row.json === null ? row.extra : null;
    const extra = displaced === null ? surplus : JSON.stringify(displaced);
    return extra === null ? key + facts : `${key}${facts.slice(0, -1)},"extra":${extra}}`;
  };
}

function flat(names: readonly string[], columns: readonly Column[]): Describe {
  const keys = names.map((name) => JSON.stringify(name) + ":");
  return (enriched, displaced) => {
    let text = "";
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index]!;
      let value = column.value(enriched);
      if (column.name === "extra") {
        if (displaced !== null) value = JSON.stringify(displaced);
        else if (enriched.row.json !== null) value = null;
      }
      text += (index > 0 ? "," : "") + keys[index]! + JSON.stringify(value);
    }
    return text;
  };
}
