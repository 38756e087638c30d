import { toWellFormed } from "../../../core/bytes.js";
import type { Column } from "../../../core/column.js";
import { addedColumns, columns, optionalColumnsIn } from "../../../core/columns.js";
import { lookupEndpoints, memberOf as resultMember, unasked } from "../../../core/finding.js";
import {
  asObject,
  memberTexts,
  objectText,
  parseObject,
  wellFormedJson,
} from "../../../core/json-members.js";
import {
  type EnrichedRow,
  isUtf8,
  itemRow,
  nestedFacts,
  nestedText,
  type Row,
} from "../../../core/row.js";
import { joinedEntries } from "../column-types.js";
import { addedColumnNames, addedMemberName, uniqueNames } from "../columns/name-columns.js";
import { splitLines } from "../reading/lines.js";
import type { Encoder, EncoderOptions, OutputRecord, RecordFormat } from "../types.js";

/**
 * Writes one JSON object per line: the input's members unchanged, then one member with everything
 * as received (nested) or one member per column (flat).
 *
 * The text of an NDJSON record is copied, so that numbers keep their digits and members their
 * order.
 */
export function ndjsonEncoder(options: EncoderOptions): Encoder {
  const { columns: own, prefix, shape, added = columns } = options;
  const names =
    shape === "nested" ? [addedMemberName(prefix, own)] : addedColumnNames(prefix, own, added);
  const ownKeys = memberKeys(own);
  const keys = names.map((name) => `${JSON.stringify(name)}:`);
  return jsonLinesEncoder((enriched) => {
    const { text, displaced } = inputMembers(enriched.row, ownKeys, names);
    const members =
      shape === "nested"
        ? keys[0]! + nestedMember(enriched, displaced)
        : flatMembers(enriched, keys, added, displaced);
    return `{${text}${text === "" ? "" : ","}${members}}\n`;
  });
}

export function linesEncoder(encodeRow: (row: EnrichedRow) => string): Encoder {
  return {
    header: "",
    encode(rows) {
      let text = "";
      for (const row of rows) text += encodeRow(row);
      return text;
    },
  };
}

/**
 * An encoder for lines of JSON, which is UTF-8 (RFC 8259, section 8.1). It gives rows with U+FFFD for
 * whatever was not UTF-8 in the input.
 */
export function jsonLinesEncoder(encodeRow: (row: EnrichedRow) => string): Encoder {
  return linesEncoder((row) => encodeRow(isUtf8(row.row) ? row : asUtf8(row)));
}

function asUtf8({ row, item, finding }: EnrichedRow): EnrichedRow {
  const { cells, extra, json, itemText } = row;
  const { error } = finding;
  return {
    row: {
      ...row,
      cells: cells.map(toWellFormed),
      extra: extra === null ? null : wellFormedJson(extra),
      json: json === null ? null : toWellFormed(json),
      itemText: toWellFormed(itemText),
    },
    item,
    // The fault of a line that is not JSON quotes it.
    finding:
      error === null
        ? finding
        : { ...finding, error: { ...error, message: toWellFormed(error.message) } },
  };
}

/** Unique member names for columns whose names may be empty, repeat, or not be UTF-8. */
export function memberNames(names: readonly string[]): readonly string[] {
  return uniqueNames(names.map(toWellFormed), { longest: Infinity, clean: String }, String, []);
}

/** The start of each member, `"name":`. A repeated name gets a number. */
export function memberKeys(columns: readonly string[]): readonly string[] {
  return memberNames(columns).map((name) => `${JSON.stringify(name)}:`);
}

interface InputMembers {
  readonly text: string;
  /** An object of the members replaced by added ones of the same name; null if none. */
  readonly displaced: string | null;
}

function inputMembers(row: Row, keys: readonly string[], added: readonly string[]): InputMembers {
  const { json, fault } = row;
  if (json === null) return { text: fault === null ? cellMembers(row, keys) : "", displaced: null };
  // Cheap, without false negatives: an escaped name contains a backslash.
  const mayClash = json.includes("\\u") || added.some((name) => json.includes(`"${name}"`));
  const settled = mayClash ? moveClashes(json, added) : null;
  return settled ?? { text: json.slice(1, -1).trim(), displaced: null };
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
  const members = memberTexts(json);
  const displaced = new Map([...members].filter(([name]) => added.includes(name)));
  if (displaced.size === 0) return null;
  for (const name of displaced.keys()) members.delete(name);
  return { text: objectText(members).slice(1, -1), displaced: objectText(displaced) };
}

function nestedMember(
  { row, item, finding }: EnrichedRow,
  displaced: InputMembers["displaced"],
): string {
  let facts = nestedText(nestedFacts(item, finding), finding);
  for (const name of ["file", "column"] as const) {
    const value = row[name];
    if (value !== undefined) facts = `${facts.slice(0, -1)},"${name}":${JSON.stringify(value)}}`;
  }
  // `extra` of a cell-based source is already JSON; an NDJSON record has all its members above.
  const surplus = row.json === null ? row.extra : null;
  const extra = displaced ?? surplus;
  return extra === null ? facts : `${facts.slice(0, -1)},"extra":${extra}}`;
}

function flatMembers(
  enriched: EnrichedRow,
  keys: readonly string[],
  added: readonly Column[],
  displaced: InputMembers["displaced"],
): string {
  let text = "";
  for (let index = 0; index < added.length; index++) {
    const column = added[index]!;
    let value = column.value(enriched);
    if (column.name === "extra") {
      if (displaced !== null) value = displaced;
      else if (enriched.row.json !== null) value = null;
    }
    text += (index > 0 ? "," : "") + keys[index]! + JSON.stringify(value);
  }
  return text;
}

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

const noRow = itemRow("", 0);

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
  return parseObject(text) === null ? null : memberTexts(text);
}
