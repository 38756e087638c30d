import {
  addedColumns,
  lackedColumns,
  type OptionalColumns,
  optionalColumnsIn,
} from "../../core/columns.js";
import { FatalError, UsageError } from "../../core/errors.js";
import {
  findingSources,
  type Finding,
  findingStatuses,
  type JsonObject,
  type LookupEndpoint,
  lookupEndpoints,
  unasked,
  type Verdict,
  verdicts,
} from "../../core/finding.js";
import { type Item, itemKinds } from "../../core/item/item.js";
import type { Row } from "../../core/row.js";
import { endpoints } from "../../core/endpoints/endpoints.js";
import { joinedEntries } from "../formats/column-types.js";
import type { OpenedSource, SourcePosition } from "../input/types.js";
import type { OutputRecord, Encoder, InputReading, SourceFormat } from "../formats/types.js";
import {
  type ColumnRules,
  leadingNames,
  type TableColumn,
  tableSchema,
} from "./typed/table-schema.js";
import type { RunRows } from "./output.js";
import type { StagedCell, StagedRow } from "./stage.js";
import type { SinkSettings } from "./options.js";

export interface OutputRow extends Row {
  /** The record of a text verbatim, including its line ending; "" for typed values. */
  readonly text: string;
  readonly record: OutputRecord;
  readonly item: Item | null;
  /** The finding that it holds, with what is needed to count it. */
  readonly before: Finding;
}

/** How the rows of an output file are read. */
export interface OutputForm {
  /** The input's own columns; none for NDJSON, whose records bring their members. */
  readonly columns: readonly string[];
  readonly reading: InputReading;
  readonly optional: OptionalColumns;
  /** The run that wrote it, if the files tell. */
  readonly runId?: string;
  readonly settings: Partial<Pick<SinkSettings, "shape">>;
  readonly encoder?: (encoder: Encoder) => Encoder;
  /**
   * Opens the rows as the input of a run. Positions count rows.
   *
   * @param startAt where to begin; what was read before must be the same. @default unchecked
   */
  readonly open: (
    startAt?: SourcePosition | null,
  ) => Promise<OpenedSource & { readonly rows: AsyncIterable<readonly OutputRow[]> }>;
}

/**
 * The row of a record.
 *
 * @param place where the record is, and what a retry that keeps it writes
 * @param where names it in messages
 */
export function outputRow(
  record: OutputRecord | null,
  place: Pick<OutputRow, "number" | "size" | "saved"> & { readonly text?: string },
  where: string,
): OutputRow {
  const before = record && findingOf(record);
  if (record === null || before === null) {
    throw new FatalError("output_corrupt", `${where}: not a row of an output`);
  }
  const [file, column] = [record.text("file"), record.text("column")];
  return {
    ...(file === "" ? {} : { file }),
    ...(column === "" ? {} : { column }),
    cells: record.cells,
    extra: record.extra,
    json: record.json,
    itemText: record.text("item"),
    kindText: record.text("kind"),
    fault: null,
    text: "",
    ...place,
    record,
    item: itemOf(record),
    before,
  };
}

/** How an output is read as the input of a run; by default, rows of typed values. */
export function outputReading(
  prefix: string,
  format: SourceFormat = "csv",
  delimiter: string | null = ",",
  header: InputReading["header"] = "record",
): InputReading {
  return {
    format,
    delimiter,
    comment: null,
    spaced: false,
    header,
    items: [{ name: `${prefix}item`, index: -1, by: "format", sample: null }],
    kind: null,
  };
}

/** The finding of a record; null if its status or verdict is unknown. */
function findingOf(record: OutputRecord): Finding | null {
  const status = findingStatuses.find((known) => known === record.text("status"));
  const verdict = verdicts.find((known) => known === record.text("verdict"));
  if (status === undefined || (verdict === undefined && record.text("verdict") !== "")) return null;
  const source = findingSources.find((known) => known === record.text("source")) ?? "local";
  const result = { tags: record.list("tags"), ...leastAnswer[verdict ?? "unknown"] };
  return {
    ...unasked(
      status,
      record.text("error_code") === ""
        ? null
        : { code: record.text("error_code"), message: record.text("error") },
    ),
    // Enough to tell the verdict, and to count the tags.
    answers: Object.fromEntries(
      answeredLookups(record).map((endpoint) => [endpoint, { result }] as const),
    ),
    missing: record.list("missing"),
    source,
  };
}

/** The lookups that a row of an output has answers of, as its columns show. */
export function answeredLookups(row: OutputRecord): readonly LookupEndpoint[] {
  const shown = lookupEndpoints.filter((endpoint) =>
    endpoints[endpoint].shownBy.some((column) => row.text(column) !== ""),
  );
  // Every member of a quick check may be null.
  if (shown.includes("query") || row.text("status") !== "complete") return shown;
  return lookupEndpoints.filter((name) => name === "quick-check" || shown.includes(name));
}

const leastAnswer: Readonly<Record<Verdict | "unknown", JsonObject>> = {
  malicious: { intent: "malicious" },
  suspicious: { intent: "suspicious" },
  listed: { serviceMailBlocklist: "ACTIVE" },
  none: { intent: "none", serviceMailBlocklist: "NOT_LISTED" },
  unknown: { intent: "" },
};

/** The item that was looked up, or null if there was none. */
function itemOf(record: OutputRecord): Item | null {
  const kind = itemKinds.find((known) => known === record.text("kind"));
  return kind === undefined || record.text("item") === ""
    ? null
    : { kind, value: record.text("item") };
}

/**
 * A record of the cells of a row.
 *
 * @param added names of the first cells' columns, without the prefix; the others are the input's own
 */
export function typedRecord(added: readonly string[], cells: StagedRow): OutputRecord {
  const text = (name: string): string => textOf(cells[added.indexOf(name)] ?? null);
  return {
    text,
    list: (name) => joinedEntries(text(name)),
    cells: cells.slice(added.length).map(textOf),
    json: null,
    extra: text("extra") || null,
  };
}

function textOf(cell: StagedCell): string {
  return typeof cell === "string" ? cell : (cell?.join("|") ?? "");
}

/** Returns a function that makes a record of a row's cells. @param columns of the cells */
export function recordReader(
  columns: readonly TableColumn[],
  prefix: string,
): (cells: StagedRow) => OutputRecord {
  const placesOf = (kind: string): readonly number[] =>
    columns.flatMap(({ from }, place) => (from.kind === kind ? [place] : []));
  const added = placesOf("added");
  const names = added.map((place) => (columns[place]?.name ?? "").slice(prefix.length));
  const places = [...added, ...placesOf("input")];
  return (cells) => {
    const ordered = places.map((place) => cells[place] ?? null);
    return typedRecord(names, ordered);
  };
}

/**
 * What a reader takes of the columns of a typed output: the names of added ones, without the prefix, and
 * of its own.
 *
 * @param name of the output, for messages
 * @param names of all its columns
 * @throws UsageError `not_an_output`
 */
export function outputColumns(
  name: string,
  names: readonly string[],
  rules: ColumnRules,
  { prefix, only }: Omit<RunRows, "runId">,
) {
  const needed = [...leadingNames, "status"].map((plain) => prefix + plain);
  const lacking = needed.find((column) => !names.includes(column));
  if (lacking !== undefined) throw notAnOutput(name, `has no column ${lacking}`);
  const optional = optionalColumnsIn(names, prefix);
  const ours = tableSchema(rules, { columns: [], prefix, optional }).columns;
  const lacks = lackedColumns(only ?? [], optional);
  const wanted = only ?? addedColumns(optional).map((column) => column.name);
  const added = wanted.filter((column) => !lacks.includes(column));
  const isOurs = (column: string): boolean => ours.some((each) => each.name === column);
  return { optional, ours, added, own: only ? [] : names.filter((column) => !isOurs(column)) };
}

/** The error for something that is read as an output. */
export function notAnOutput(name: string, what: string): UsageError {
  return new UsageError("not_an_output", `${name} ${what}`, {
    hint: "name an output of repute; give --prefix if its added columns don't start with rep_",
  });
}
