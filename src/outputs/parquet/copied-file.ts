import type { ParquetParsers } from "hyparquet";
import { stat } from "node:fs/promises";
import { type ColumnType, type OptionalColumns, optionalColumnsIn } from "../../core/columns.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import type { CellValue } from "../../formats/typed-column.js";
import { savedColumns } from "../warehouse/saved-rows.js";
import { type TableSchema, tableSchema } from "../warehouse/table-schema.js";
import {
  compressorsFor,
  type OpenedFile,
  openFile,
  readRows,
  slices,
  textOf,
  unreadable,
} from "./parquet-file.js";

/** A Parquet output whose rows are copied into another one. */
export interface CopiedFile {
  /** The run that wrote it. */
  readonly runId: string;
  readonly rows: number;
  readonly bytes: number;
  /** The columns of the copy, in its order. */
  readonly schema: TableSchema;
  /** The input's own columns. */
  readonly own: readonly string[];
  readonly optional: OptionalColumns;
  /**
   * The cells of the rows from `first` (0-based) on, in the order of `schema`.
   *
   * @throws FatalError `parquet_unreadable`, `input_changed`; UsageError `not_an_output`
   */
  cells(first: number): AsyncGenerator<readonly (readonly CellValue[])[]>;
}

/**
 * Opens a Parquet output to copy its rows.
 *
 * @throws UsageError `not_an_output`, `driver_missing`; FatalError `output_missing`, `parquet_unreadable`
 */
export async function openCopiedFile(path: string, prefix: string): Promise<CopiedFile> {
  const facts = await stat(path).catch(() => null);
  if (facts === null) {
    throw new FatalError("output_missing", `there is no file ${path}`, { hint: "check the path" });
  }
  const opened = await openFile(path);
  const { metadata, tree } = opened;
  const names = tree.children.map(({ element }) => element.name);
  const { own } = savedColumns(path, names, { prefix });
  const optional = optionalColumnsIn(names, prefix);
  const schema = tableSchema("parquet", { inputColumns: own, prefix, optional });
  for (const name of schema.key) {
    if (!names.includes(name)) throw notCopied(path, `it has no column ${name}`);
  }
  const runId = metadata.key_value_metadata?.find(({ key }) => key === "repute.run_id")?.value;
  const rows = Number(metadata.num_rows);
  const mustBeUnchanged = async (): Promise<void> => {
    const now = await stat(path).catch(() => null);
    const isSame = (["ino", "size", "mtimeMs"] as const).every(
      (fact) => now?.[fact] === facts[fact],
    );
    if (!isSame) throw changed(path);
  };
  const cells = (first: number) => cellsFrom(path, opened, schema, { first, mustBeUnchanged });
  return {
    runId: runId ?? (await firstRunId(cells)) ?? "",
    rows,
    bytes: facts.size,
    schema,
    own,
    optional,
    cells,
  };
}

async function firstRunId(cells: CopiedFile["cells"]): Promise<string | null> {
  for await (const [row] of cells(0)) return String(row?.[0] ?? "");
  return null;
}

interface CellsOptions {
  /** Index of the first row. */
  readonly first: number;
  /** Checks that the file is still the one that was opened. It is opened again for each slice. */
  readonly mustBeUnchanged: () => Promise<void>;
}

async function* cellsFrom(
  path: string,
  { file, metadata }: OpenedFile,
  { columns }: TableSchema,
  { first, mustBeUnchanged }: CellsOptions,
): AsyncGenerator<readonly (readonly CellValue[])[]> {
  const compressors = await compressorsFor(path, metadata);
  const names = columns.map(({ name }) => name);
  for (const { from, to } of slices(metadata)) {
    if (to <= first) continue;
    const rowStart = Math.max(from, first);
    const slice = { file, metadata, compressors, parsers, columns: names, rowStart, rowEnd: to };
    const rows = await readRows(slice).catch(async (error: unknown) => {
      await mustBeUnchanged();
      throw unreadable(path, `rows ${rowStart + 1} to ${to} cannot be read`, error);
    });
    if (rows.length !== to - rowStart) {
      throw unreadable(path, `rows ${rowStart + 1} to ${to} are not all there`);
    }
    await mustBeUnchanged();
    yield rows.map((row) =>
      columns.map(({ name, type }, index) => {
        const cell = cellOf(row[index], type);
        if (cell === undefined) throw notCopied(path, `its column ${name} is not ${type}`);
        return cell;
      }),
    );
  }
}

/** A value as a cell of a type; undefined if it is not one. */
function cellOf(value: unknown, type: ColumnType): CellValue | undefined {
  if (value === null || value === undefined) return null;
  switch (type) {
    case "text":
      return typeof value === "string" ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "timestamp":
      return typeof value === "bigint" ? value : undefined;
    case "count":
      return typeof value === "number"
        ? BigInt(value)
        : typeof value === "bigint"
          ? value
          : undefined;
    case "text[]":
      return isTexts(value) ? value : undefined;
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

/** Texts as they are, times as microseconds. */
const parsers = {
  stringFromBytes: textOf,
  timestampFromMilliseconds: (units: bigint) => units * 1000n,
  timestampFromMicroseconds: (units: bigint) => units,
  timestampFromNanoseconds: (units: bigint) => units / 1000n,
} as unknown as ParquetParsers;

function changed(path: string): FatalError {
  return new FatalError("input_changed", `${path} was changed while it was read`, {
    hint: `restore it and continue with --resume, or ${startOver}`,
  });
}

function notCopied(path: string, what: string): UsageError {
  return new UsageError("not_an_output", `${path} is not an output of repute: ${what}`, {
    hint: "name an output of repute; give --prefix if its added columns don't start with rep_",
  });
}
