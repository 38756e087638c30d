import type { ParquetParsers } from "hyparquet";
import { stat } from "node:fs/promises";
import {
  addedColumns,
  lackedColumns,
  type OptionalColumns,
  optionalColumnsIn,
} from "../../core/columns.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { columnTypes } from "../../formats/column-types.js";
import type { StagedRow } from "../stage.js";
import { leadingNames, type TableColumn, tableSchema } from "../warehouse/table-schema.js";
import {
  compressorsFor,
  type OpenedFile,
  openFile,
  readRows,
  slices,
  textOf,
  unreadable,
} from "./parquet-file.js";

/** A Parquet file that a run has written. */
export interface ParquetOutput {
  readonly runId: string;
  readonly rows: number;
  readonly bytes: number;
  /** The columns that are read, in their order. */
  readonly columns: readonly TableColumn[];
  /** The input's own columns. */
  readonly own: readonly string[];
  readonly optional: OptionalColumns;
  /**
   * The cells of the rows from `first` (0-based) on.
   *
   * @throws FatalError `output_corrupt`, `input_changed`; UsageError `not_an_output`
   */
  cells(first: number): AsyncGenerator<readonly StagedRow[]>;
}

/** Which columns of an output are read. */
export interface OutputColumns {
  /** Prefix of the added columns' names, e.g. `rep_`. */
  readonly prefix: string;
  /** Added columns to read, without the prefix. @default all, and the input's own */
  readonly only?: readonly string[] | undefined;
}

/**
 * Opens a Parquet output to read its rows.
 *
 * @throws UsageError `not_an_output`, `driver_missing`; FatalError `output_missing`, `output_corrupt`
 */
export async function openParquetOutput(
  path: string,
  { prefix, only }: OutputColumns,
): Promise<ParquetOutput> {
  const facts = await stat(path).catch(() => null);
  if (facts === null) {
    throw new FatalError("output_missing", `there is no file ${path}`, { hint: "check the path" });
  }
  const opened = await openFile(path).catch((error: unknown) => {
    throw corrupt(path, error);
  });
  const { metadata, tree } = opened;
  const names = tree.children.map(({ element }) => element.name);
  const optional = optionalColumnsIn(names, prefix);
  const lacks = new Set(lackedColumns(only ?? ["status"], optional));
  const needed = [
    ...leadingNames,
    ...(only ?? addedColumns(optional).map(({ name }) => name)).filter((name) => !lacks.has(name)),
    ...(lacks.has("status") ? ["status"] : []),
  ];
  const lacking = needed.find((name) => !names.includes(prefix + name));
  if (lacking !== undefined) throw notAnOutput(path, `has no column ${prefix}${lacking}`);
  const ours = new Set(needed.map((name) => prefix + name));
  const own = only === undefined ? names.filter((name) => !ours.has(name)) : [];
  const schema = tableSchema("parquet", { inputColumns: own, prefix, optional });
  const columns = schema.columns.filter(({ name }) => only === undefined || ours.has(name));
  const mustBeUnchanged = async (): Promise<void> => {
    const now = await stat(path).catch(() => null);
    const isSame = (["ino", "size", "mtimeMs"] as const).every(
      (fact) => now?.[fact] === facts[fact],
    );
    if (!isSame) throw changed(path);
  };
  const cells = (first: number) => cellsFrom(path, opened, columns, { first, mustBeUnchanged });
  const runId = metadata.key_value_metadata?.find(({ key }) => key === "repute.run_id")?.value;
  return {
    runId: runId ?? (await firstRunId(cells)) ?? "",
    rows: Number(metadata.num_rows),
    bytes: facts.size,
    columns,
    own,
    optional,
    cells,
  };
}

async function firstRunId(cells: ParquetOutput["cells"]): Promise<string | null> {
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
  columns: readonly TableColumn[],
  { first, mustBeUnchanged }: CellsOptions,
): AsyncGenerator<readonly StagedRow[]> {
  const compressors = await compressorsFor(path, metadata);
  const names = columns.map(({ name }) => name);
  for (const { from, to } of slices(metadata)) {
    if (to <= first) continue;
    const rowStart = Math.max(from, first);
    const slice = { file, metadata, compressors, parsers, columns: names, rowStart, rowEnd: to };
    const what = `rows ${rowStart + 1} to ${to}`;
    const rows = await readRows(slice).catch(async (error: unknown) => {
      await mustBeUnchanged();
      throw corrupt(path, unreadable(path, `${what} cannot be read`, error));
    });
    if (rows.length !== to - rowStart) throw corrupt(path, new Error(`${what} are not all there`));
    await mustBeUnchanged();
    yield rows.map((row) =>
      columns.map(({ name, type }, index) => {
        const value = row[index] ?? null;
        const cell = value === null ? null : columnTypes[type].cellIn(value);
        if (cell === undefined) throw notAnOutput(path, `has a column ${name} that is not ${type}`);
        return cell;
      }),
    );
  }
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

function notAnOutput(path: string, what: string): UsageError {
  return new UsageError("not_an_output", `${path} ${what}`, {
    hint: "name an output of repute; give --prefix if its added columns don't start with rep_",
  });
}

/** The error for a Parquet output that cannot be read. */
function corrupt(path: string, error: unknown): unknown {
  if (error instanceof UsageError) return error;
  const { message } = error as Error;
  const what = message.replace(`cannot read ${path}: `, "");
  return new FatalError("output_corrupt", `${path} is damaged: ${what}`, {
    cause: error,
    hint: "restore it from a copy, or run again",
  });
}
