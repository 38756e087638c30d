import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileMetaData, ParquetParsers, SchemaElement } from "hyparquet";
import { UsageError } from "../../core/errors.js";
import { downloadObject } from "../download-object.js";
import type { TableReadOptions, TableReceiver } from "../tables/types.js";
import { timeText } from "../../core/clock.js";
import { type InputValue, JsonText } from "../tables/values.js";
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

/**
 * Reads a Parquet file, row group by row group.
 *
 * @param name of the file in messages
 */
export async function readParquetTable(
  path: string,
  receiver: TableReceiver,
  { signal }: TableReadOptions,
  name = path,
): Promise<void> {
  if (!existsSync(path)) {
    throw new UsageError("input_not_found", `there is no file ${path}`, {
      hint: "check the path",
    });
  }
  const opened = await openFile(path, name);
  const { children } = opened.tree;
  await receiver.begin(
    children.map(({ element }) => element.name),
    children.map(parquetType),
  );
  for await (const rows of parquetRows(opened, { name })) {
    signal?.throwIfAborted();
    await receiver.rows(rows);
  }
}

interface ParquetReading {
  readonly name: string;
  /** Index of the first row. @default 0 */
  readonly first?: number;
  /** Names of the columns to read, in this order. @default all */
  readonly columns?: readonly string[];
  /** @default those of inputs */
  readonly parsers?: ParquetParsers;
}

export async function* parquetRows(
  { file, metadata, tree }: OpenedFile,
  { name, first = 0, columns, parsers = exactParsers }: ParquetReading,
): AsyncGenerator<readonly (readonly InputValue[])[]> {
  const compressors = await compressorsFor(name, metadata);
  const nodes =
    columns?.map((wanted) => tree.children.find(({ element }) => element.name === wanted)!) ??
    tree.children;
  // Taken before the elements lose their types.
  const valuesOf = nodes.map(parquetValues);
  const exact = withExactValues(metadata);
  for (const { from, to } of slices(metadata)) {
    if (to <= first) continue;
    const rowStart = Math.max(from, first);
    const what = `rows ${rowStart + 1} to ${to}`;
    const rows = await readRows({
      file,
      metadata: exact,
      compressors,
      parsers,
      utf8: false,
      ...(columns && { columns: [...columns] }),
      rowStart,
      rowEnd: to,
    }).catch((error: unknown) => {
      throw unreadable(name, `${what} cannot be read`, error);
    });
    if (rows.length !== to - rowStart) throw unreadable(name, `${what} are not all there`);
    yield rows.map((row) => valuesOf.map((valueOf, index) => valueOf(row[index])));
  }
}

/** Types that hyparquet rounds or refuses. */
const untyped: ReadonlySet<string | undefined> = new Set(["DECIMAL", "INTERVAL", "BSON"]);

/**
 * Without the types that hyparquet rounds or refuses. Their values are read as integers or bytes, which
 * are exact.
 */
function withExactValues(metadata: FileMetaData): FileMetaData {
  const plain = (element: SchemaElement): SchemaElement => {
    if (!untyped.has(element.converted_type) && !untyped.has(element.logical_type?.type)) {
      return element;
    }
    const { converted_type: _1, logical_type: _2, ...rest } = element;
    return rest;
  };
  return { ...metadata, schema: metadata.schema.map(plain) };
}

/** Parsers whose values `parquetValues` takes. */
export const exactParsers: ParquetParsers = {
  timestampFromMilliseconds: (units: bigint) => timeText(units, 3),
  timestampFromMicroseconds: (units: bigint) => timeText(units, 6),
  timestampFromNanoseconds: (units: bigint) => timeText(units, 9),
  dateFromDays: (days: number) =>
    timeText(BigInt(days) * 86_400n, 0).slice(0, -"T00:00:00Z".length),
  stringFromBytes: (bytes: Uint8Array) => textOf(bytes),
  jsonFromBytes: (bytes: Uint8Array): InputValue =>
    new JsonText(textOf(bytes).replaceAll(/[\r\n]+/g, " ")),
  geometryFromBytes: (bytes: Uint8Array) => bytes,
  geographyFromBytes: (bytes: Uint8Array) => bytes,
} as unknown as ParquetParsers;

/**
 * Reads a Parquet file in object storage, of which it makes a temporary copy: the columns of a row
 * group are spread over the file.
 */
export async function readParquetObject(
  address: string,
  receiver: TableReceiver,
  options: TableReadOptions,
): Promise<void> {
  const { signal } = options;
  const own = options.folder === undefined ? await mkdtemp(join(tmpdir(), "repute-")) : null;
  const path = join(own ?? options.folder ?? "", "input.parquet");
  try {
    await downloadObject(address, path, signal);
    await readParquetTable(path, receiver, options, address);
  } finally {
    await rm(own ?? path, { recursive: true, force: true });
  }
}
