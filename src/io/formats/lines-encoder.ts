import { toWellFormed } from "../../core/bytes.js";
import { wellFormedJson } from "../../core/json-members.js";
import { type EnrichedRow, isUtf8 } from "../../core/row.js";
import type { Encoder } from "./types.js";

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
