import { isWellFormed } from "./bytes.js";
import {
  type Finding,
  type FindingError,
  type FindingStatus,
  findingStatuses,
  type Verdict,
  verdicts,
} from "./finding.js";
import { type Item, parseKindName } from "./item/item.js";

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

/** A row with the outcome of its lookup; what sinks write. */
export interface EnrichedRow {
  readonly row: Row;
  /** Null when the row's text is no supported item, or the row is no record. */
  readonly item: Item | null;
  readonly finding: Finding;
}

/**
 * What a person should know of a row, as messages that are counted. They depend on the row alone, so
 * that a resumed run counts the same as an uninterrupted one.
 */
export function rowWarnings(row: Row): readonly string[] {
  const isWhole = row.json === null ? row.cells.every(isWellFormed) : isWellFormed(row.json);
  const isSurplus = row.extra !== null && row.json === null && row.fault === null;
  const isUnknownKind = row.kindText !== "" && parseKindName(row.kindText) === null;
  if (isWhole && !isSurplus && !isUnknownKind) return none;
  return [
    ...(isWhole && isWellFormed(row.extra ?? "") ? [] : [messages.notUtf8]),
    ...(isSurplus ? [messages.surplus] : []),
    ...(isUnknownKind ? [messages.unknownKind] : []),
  ];
}

const none: readonly string[] = [];

const messages = {
  notUtf8: "row with bytes that are not UTF-8, kept as they are",
  surplus: "row with more cells than there are columns",
  unknownKind: "values in the kind column that name no kind of item were ignored",
};

/** The rows of an output, counted. */
export interface RowCounts {
  readonly rows: number;
  readonly statuses: Readonly<Record<FindingStatus, number>>;
  /** Rows by verdict, those without one left out; null for an output of schema version 1. */
  readonly verdicts: Readonly<Record<Verdict, number>> | null;
}

/** Counts the rows of an output that is read back. */
export class RowCounter {
  readonly #hasVerdicts: boolean;
  #rows = 0;
  readonly #statuses = zeros(findingStatuses);
  readonly #verdicts = zeros(verdicts);

  /** @param hasVerdicts false for an output of schema version 1 */
  constructor(hasVerdicts: boolean) {
    this.#hasVerdicts = hasVerdicts;
  }

  get rows(): number {
    return this.#rows;
  }

  /**
   * Counts rows that have this status and this verdict.
   *
   * @param verdict null for none
   * @returns what is wrong with them, or null
   */
  count(status: unknown, verdict: unknown, rows = 1): string | null {
    this.#rows += rows;
    if (!isIn(this.#statuses, status)) return "no status";
    this.#statuses[status] += rows;
    if (!this.#hasVerdicts || verdict === null) return null;
    if (!isIn(this.#verdicts, verdict)) return "an unknown verdict";
    this.#verdicts[verdict] += rows;
    return null;
  }

  found(): RowCounts {
    return {
      rows: this.#rows,
      statuses: this.#statuses,
      verdicts: this.#hasVerdicts ? this.#verdicts : null,
    };
  }
}

function zeros<K extends string>(names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
}

function isIn<K extends string>(counts: Record<K, number>, name: unknown): name is K {
  return typeof name === "string" && Object.hasOwn(counts, name);
}
