import type { Finding, FindingError } from "./finding.js";
import type { Item } from "./item/item.js";

/** One record of the input as a source read it. Every record becomes exactly one row of output. */
export interface Row {
  /** Position in the input, from 1; the header and skipped lines do not count. */
  readonly number: number;
  /** Line of the input on which the record starts, from 1. */
  readonly line: number;
  /** One text a column of the source, padded with "" where the record is short. */
  readonly cells: readonly string[];
  /** What the columns have no place for, as JSON text (array of cells, object of members), or null. */
  readonly extra: string | null;
  /** The record's JSON object as it stands in the input (NDJSON), or null. */
  readonly json: string | null;
  /** The text of the item column; "" when the record has none. */
  readonly itemText: string;
  /** True when the item is a JSON value other than text (array, object, number, boolean). */
  readonly itemNotText?: boolean;
  /** The text of the kind column; "" without one. */
  readonly kindText: string;
  /** Set when the line is no record at all (broken JSON): the row becomes `failed` with this. */
  readonly fault: FindingError | null;
  /** Offset in bytes of decompressed input just behind this record's line end. */
  readonly end: number;
  /** Lines of the input up to and with this record's last one. */
  readonly endLine: number;
}

/** A row with what its lookup came to; what sinks write. */
export interface EnrichedRow {
  readonly row: Row;
  /** Null when the row's text is no supported item, or the row is no record. */
  readonly item: Item | null;
  readonly finding: Finding;
}
