import { toWellFormed } from "../../../core/bytes.js";
import type { Column } from "../../../core/column.js";
import { columns } from "../../../core/columns.js";
import { nestedFacts, nestedText } from "../../../core/nested-facts.js";
import type { EnrichedRow, Row } from "../../../core/row.js";
import { addedColumnNames, addedMemberName } from "../added-names.js";
import type { Encoder, EncoderOptions } from "../types.js";
import { jsonLinesEncoder } from "../lines-encoder.js";

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
  const keys = uniqueNames(options.columns).map((name) => JSON.stringify(name) + ":");
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

interface InputMembers {
  readonly text: string;
  /** Members replaced by added ones of the same name; null if none. */
  readonly displaced: Record<string, unknown> | null;
}

function inputMembers(row: Row, keys: readonly string[], added: readonly string[]): InputMembers {
  if (row.json !== null) {
    if (mayClash(row.json, added)) {
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

/** Cheap check without false negatives: an escaped name contains a backslash. */
function mayClash(json: string, added: readonly string[]): boolean {
  return json.includes("\\u") || added.some((name) => json.includes(`"${name}"`));
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
