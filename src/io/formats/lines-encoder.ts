import { toWellFormed } from "../../core/bytes.js";
import { wellFormedJson } from "../../core/json-members.js";
import { type EnrichedRow, isUtf8, RowCounter } from "../../core/row.js";
import type { Encoder, RecordCounter } from "./types.js";
import { FatalError } from "../../core/errors.js";

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

/** Status and verdict of an output row, not yet validated. */
interface RowOutcome {
  readonly status: unknown;
  readonly verdict: unknown;
}

/**
 * Counts rows by status and verdict, one per record.
 *
 * @param outcomeOf reads a record; null for records that aren't rows, such as the header
 */
export function countRows(
  outcomeOf: (record: Buffer, row: number) => RowOutcome | null,
): RecordCounter {
  const rows = new RowCounter();
  return {
    add(record) {
      const outcome = outcomeOf(record, rows.rows + 1);
      const fault = outcome === null ? null : rows.count(outcome.status, outcome.verdict);
      if (fault === null) return;
      throw new FatalError("output_corrupt", `row ${rows.rows} of the output has ${fault}`);
    },
    counted: () => rows.found(),
  };
}
