import type { Clock } from "../../core/clock.js";
import type { Column } from "../../core/column.js";
import type { OptionalColumns } from "../../core/columns.js";
import type { Item, ItemKind } from "../../core/item/item.js";
import type { EnrichedRow, Row } from "../../core/row.js";
import type { SourceSettings } from "./source-options.js";
import type { InputType } from "./column-types.js";
import type { TextBytes, RecordSplitter } from "./reading/lines.js";
import type { Delimiter } from "./reading/sample.js";

export const sinkFormats = ["csv", "tsv", "ndjson", "stix", "es-bulk"] as const;

export type SourceFormat = NonNullable<SourceSettings["from"]>;
export type SinkFormat = (typeof sinkFormats)[number];

/** A readable text format. To add one, name it above and add its file to `registry.ts`. */
export interface ReadableFormat {
  /** File extensions of the format; empty if only its first lines identify it. */
  readonly extensions: readonly string[];
  read(bytes: TextBytes, options: ReadOptions): Promise<FormatReading>;
}

/** A writable text format. To add one, name it above and add its file to `registry.ts`. */
export interface WritableFormat {
  readonly extensions: readonly string[];
  /** @throws UsageError `column_clash` */
  write(options: EncoderOptions): Encoder;
  /** Whether rows contain the results as received. */
  keepsReceived(shape: Shape): boolean;
  /** Reads the rows of an output; absent if they cannot be read back. */
  readonly records?: RecordFormat;
}

/**
 * NDJSON output: one member per column (flat) or one member with everything as received (nested).
 */
type Shape = "flat" | "nested";

/** How an input is parsed, from its flags or detected in its first records. */
export interface InputReading {
  readonly format: SourceFormat;
  readonly delimiter: Delimiter | null;
  readonly comment: string | null;
  /** Ignore spaces before a cell, so that `"a", "b"` has two quoted cells. */
  readonly spaced: boolean;
  /** Lines before the header that are not CSV: a title, a date, a rule. @default 0 */
  readonly skippedLines?: number;
  /** Whether there is a rule below the header. @default false */
  readonly hasRule?: boolean;
  /** The lines at the start that belong to no row: those above, and comments. Their text is cut. */
  readonly skipped?: { readonly lines: number; readonly text: string };
  /** Where the column names come from: the first record, a comment line before it, or neither. */
  readonly header: "record" | "comment" | "none";
  /** Whether the record that names the columns could as well be a row. @default false */
  readonly mayBeRow?: boolean;
  /** One row is read for each. */
  readonly items: readonly [ItemColumn, ...ItemColumn[]];
  readonly kind: KindColumn | null;
  /** Columns with items that are not looked up; absent if none is known. */
  readonly others?: OtherColumns;
  /** Columns that hold names of files; absent if none is known. */
  readonly ofFiles?: readonly string[];
}

export interface OtherColumns {
  /** Sampled rows. */
  readonly sampled: number;
  /** In how many of these rows each has an item. */
  readonly columns: readonly (ColumnPlace & { readonly rows: number })[];
}

export interface ColumnPlace {
  /** A dotted path for NDJSON; `[]` after a step stands for every element of a list. */
  readonly name: string;
  readonly index: number;
}

export interface ItemColumn extends ColumnPlace {
  /**
   * By flag, by a customary name, by its share of indicators, or because the format has one column.
   */
  readonly by: "flag" | "name" | "share" | "format";
  /** Its sample; null if none was needed. */
  readonly sample: ColumnSample | null;
}

export interface ColumnSample {
  /** Non-empty sampled cells, and how many of them are indicators. */
  readonly cells: number;
  readonly indicators: number;
  /**
   * Fraction of the cells that are indicators, 0 to 1. File names and paths count as less than one.
   */
  readonly share: number;
  /**
   * Fraction of all sampled rows whose cell would be sent, 0 to 1: reserved, internal and excluded items
   * are not.
   */
  readonly queryable: number;
  /** The most frequent kind of those cells; null if there are none. */
  readonly kind: ItemKind | null;
}

export interface RatedColumn extends ColumnPlace {
  readonly sample: ColumnSample;
  /** Whether it holds names of files: `invoice.zip` is one there. */
  readonly ofFiles?: boolean;
}

export interface KindColumn extends ColumnPlace {
  readonly by: "flag" | "neighbour";
}

/** How an input is read: by its settings, and by what its name or its first lines tell. */
export interface ReadOptions extends Omit<SourceSettings, "comment"> {
  readonly format: SourceFormat;
  readonly comment: string | null;
  /** Whether flags only apply if the input has the columns that they name. @default false */
  readonly isOneOfSeveral?: boolean | undefined;
  /** Whether an exclusion list holds an item back. @default there is no list */
  readonly isHeld?: ((item: Item) => boolean) | undefined;
  /** Whether the input is the copy of a table. @default false */
  readonly isTable?: boolean;
  /** The layout that an interrupted run found; null to find it. */
  readonly startAt: SourceLayout | null;
}

/** How an input is read. */
export interface SourceLayout {
  /** The input's columns in order, unchanged (surrounding spaces included). */
  readonly columns: readonly string[];
  /** Their types, of tables. @default text */
  readonly types?: readonly InputType[] | undefined;
  readonly reading: InputReading;
}

export interface FormatReading extends SourceLayout {
  /** Batches of rows, of any length. */
  readonly rows: AsyncIterable<readonly Row[]>;
}

/** What `es-bulk` does with a document: `create` refuses an identifier that the index has. */
export const esActions = ["index", "create"] as const;

export const esIds = ["row", "item"] as const;

export interface EncoderOptions {
  readonly columns: readonly string[];
  readonly prefix: string;
  readonly shape: Shape;
  /** Separator of the cells of CSV. @default a comma */
  readonly delimiter?: Delimiter | undefined;
  /** The columns to add. @default those of every run */
  readonly added?: readonly Column[];
  readonly esAction?: (typeof esActions)[number] | undefined;
  /** What identifies a document of `es-bulk`. @default row */
  readonly esId?: (typeof esIds)[number] | undefined;
  /** Time for rows without one, in formats that require it. @default the system clock */
  readonly clock?: Clock;
}

export interface Encoder {
  readonly header: string;
  encode(rows: readonly EnrichedRow[]): string;
}

export interface RecordFormat {
  readonly header: boolean;
  split(): RecordSplitter;
  /** @returns the layout of the first record; null if repute did not write it */
  layout(first: string, prefix: string): RecordLayout | null;
}

export interface RecordLayout {
  readonly inputColumns: readonly string[];
  readonly delimiter: Delimiter | null;
  readonly shape: Shape;
  readonly optional: OptionalColumns;
  read(record: string): OutputRecord | null;
}

export interface OutputRecord {
  text(column: string): string;
  list(column: string): readonly string[];
  readonly cells: readonly string[];
  readonly json: string | null;
  readonly extra: string | null;
}
