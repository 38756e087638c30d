import type { ParquetParsers, SchemaTree } from "hyparquet";
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
import type { CellValue, InputType } from "../../formats/typed-column.js";
import type { StagedRow } from "../stage.js";
import { cellOf as textOfValue } from "../tables/values.js";
import { leadingNames, stagedType, type TableColumn, tableSchema } from "../sql/table-schema.js";
import { parquetType } from "./input-types.js";
import { parquetValues } from "./input-values.js";
import {
  compressorsFor,
  type OpenedFile,
  openFile,
  readRows,
  slices,
  textOf,
  unreadable,
} from "./parquet-file.js";
import { exactParsers, withExactValues } from "./read-table.js";

/** A Parquet file that a run has written. */
export interface ParquetOutput {
  readonly runId: string;
  readonly rows: number;
  readonly bytes: number;
  /** The columns that are read, in their order. The cells of the input's own ones are text. */
  readonly columns: readonly TableColumn[];
  /** The input's own columns. */
  readonly own: readonly string[];
  /** Their types. */
  readonly types: readonly InputType[];
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
  const schema = tableSchema("parquet", { columns: own, prefix, optional });
  const columns = schema.columns.filter(({ name }) => only === undefined || ours.has(name));
  const mustBeUnchanged = async (): Promise<void> => {
    const now = await stat(path).catch(() => null);
    const isSame = (["ino", "size", "mtimeMs"] as const).every(
      (fact) => now?.[fact] === facts[fact],
    );
    if (!isSame) throw changed(path);
  };
  const types = own.map((name) => ownType(path, tree, name));
  const cells = (first: number) => cellsFrom(path, opened, columns, { first, mustBeUnchanged });
  const runId = metadata.key_value_metadata?.find(({ key }) => key === "repute.run_id")?.value;
  return {
    runId: runId ?? (await firstRunId(cells)) ?? "",
    rows: Number(metadata.num_rows),
    bytes: facts.size,
    columns,
    own,
    types,
    optional,
    cells,
  };
}

/** The type of an own column, which a retry has to write again. @throws UsageError `not_an_output` */
function ownType(path: string, { children }: SchemaTree, name: string): InputType {
  const found = children.find(({ element }) => element.name === name);
  const type = found === undefined ? null : parquetType(found);
  if (type === null || type.type === null) {
    throw notAnOutput(
      path,
      `has a column ${name} that repute does not write: it is ${type?.declared}`,
    );
  }
  return type;
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
  opened: OpenedFile,
  columns: readonly TableColumn[],
  { first, mustBeUnchanged }: CellsOptions,
): AsyncGenerator<readonly StagedRow[]> {
  const { file, metadata } = opened;
  const compressors = await compressorsFor(path, metadata);
  const own = columns.filter(({ from }) => from.kind === "input").map(({ name }) => name);
  const others = columns.map(({ name }) => name).filter((name) => !own.includes(name));
  const cellOf = columns.map((column) => cellReader(path, opened, column));
  const places = columns.map(({ name }) =>
    own.includes(name) ? others.length + own.indexOf(name) : others.indexOf(name),
  );
  for (const { from, to } of slices(metadata)) {
    if (to <= first) continue;
    const rowStart = Math.max(from, first);
    const what = `rows ${rowStart + 1} to ${to}`;
    const read = async (names: readonly string[], exact: boolean) => {
      if (names.length === 0) return [];
      const rows = await readRows({
        ...(exact
          ? { metadata: withExactValues(metadata), parsers: exactParsers, utf8: false }
          : { metadata, parsers }),
        file,
        compressors,
        columns: [...names],
        rowStart,
        rowEnd: to,
      }).catch(async (error: unknown) => {
        await mustBeUnchanged();
        throw corrupt(path, unreadable(path, `${what} cannot be read`, error));
      });
      if (rows.length === to - rowStart) return rows;
      throw corrupt(path, new Error(`${what} are not all there`));
    };
    const added = await read(others, false);
    const owned = await read(own, true);
    await mustBeUnchanged();
    yield added.map((row, number) => {
      const values = [...row, ...(owned[number] ?? [])];
      return cellOf.map((cell, index) => cell(values[places[index]!] ?? null));
    });
  }
}

/** Returns a function that makes the staged cell of a value. @throws UsageError `not_an_output` */
function cellReader(
  path: string,
  { tree }: OpenedFile,
  column: TableColumn,
): (value: unknown) => CellValue {
  const { name, from } = column;
  const node = tree.children.find(({ element }) => element.name === name);
  if (from.kind === "input" && node !== undefined) {
    const valueOf = parquetValues(node);
    return (value) => (value === null ? null : textOfValue(valueOf(value)));
  }
  const type = stagedType(column);
  return (value) => {
    const cell = value === null ? null : columnTypes[type].cellIn(value);
    if (cell === undefined) throw notAnOutput(path, `has a column ${name} that is not ${type}`);
    return cell;
  };
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
