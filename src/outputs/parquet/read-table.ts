import { existsSync } from "node:fs";
import type {
  AsyncBuffer,
  Compressors,
  FileMetaData,
  ParquetParsers,
  SchemaElement,
  SchemaTree,
} from "hyparquet";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";
import type { TableReadOptions, TableReceiver } from "../tables/types.js";
import { type InputValue, JsonText, timeText } from "../tables/values.js";
import { parquetValues } from "./input-values.js";

/** Decoded bytes held at a time. A row group is decoded in slices of about this size. */
const sliceBytes = 32 * 1024 * 1024;

const loadReader = () => loadDriver("hyparquet", () => import("hyparquet"));

/** Codecs built into hyparquet. */
const builtIn: ReadonlySet<string> = new Set(["UNCOMPRESSED", "SNAPPY"]);

/**
 * Reads a Parquet file, row group by row group.
 *
 * @param name of the file in messages
 * @throws UsageError `input_not_found`, `driver_missing`; FatalError `parquet_unreadable`
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
  const { parquetReadObjects } = await loadReader();
  const { file, metadata, tree } = await openFile(path, name);
  const columns = tree.children.map(({ element }) => element.name);
  const compressors = await compressorsFor(name, metadata);
  // Taken before the elements lose their types.
  const valuesOf = tree.children.map(parquetValues);
  const exact = withoutDecimals(metadata);
  await receiver.begin(columns);
  for (const { from, to } of slices(metadata)) {
    signal?.throwIfAborted();
    const rows = await parquetReadObjects({
      file,
      metadata: exact,
      compressors,
      parsers,
      utf8: false,
      rowStart: from,
      rowEnd: to,
    }).catch((error: unknown) => {
      throw unreadable(name, `rows ${from + 1} to ${to} cannot be read`, error);
    });
    if (rows.length !== to - from) {
      throw unreadable(name, `rows ${from + 1} to ${to} are not all there`);
    }
    await receiver.rows(
      rows.map((row) => columns.map((name, index) => valuesOf[index]!(row[name]))),
    );
  }
}

interface OpenedFile {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly tree: SchemaTree;
}

async function openFile(path: string, name: string): Promise<OpenedFile> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetSchema } = await loadReader();
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    return { file, metadata, tree: parquetSchema(metadata) };
  } catch (error) {
    throw unreadable(name, "its footer cannot be read", error);
  }
}

/** The ranges of rows that are decoded together. */
function* slices({ row_groups: groups }: FileMetaData): Generator<{ from: number; to: number }> {
  let from = 0;
  for (const { num_rows: size, total_byte_size: bytes } of groups) {
    const end = from + Number(size);
    const parts = Math.max(1, Math.ceil(Number(bytes) / sliceBytes));
    const step = Math.max(1, Math.ceil(Number(size) / parts));
    for (; from < end; from = Math.min(end, from + step))
      yield { from, to: Math.min(end, from + step) };
  }
}

/** What decompresses the codecs of a file. */
async function compressorsFor(
  name: string,
  { row_groups: groups }: FileMetaData,
): Promise<Compressors> {
  const codecs = new Set<string>();
  for (const { columns } of groups) {
    for (const { meta_data: meta } of columns) if (meta !== undefined) codecs.add(meta.codec);
  }
  if ([...codecs].every((codec) => builtIn.has(codec))) return {};
  const { compressors } = await loadDriver(
    "hyparquet-compressors",
    () => import("hyparquet-compressors"),
  );
  const unknown = [...codecs].find(
    (codec) => !builtIn.has(codec) && !Object.hasOwn(compressors, codec),
  );
  if (unknown === undefined) return compressors;
  throw unreadable(name, `it is compressed with ${unknown}, which repute cannot read`);
}

/** Without their type, decimals are read as integers or bytes, which are exact. */
function withoutDecimals(metadata: FileMetaData): FileMetaData {
  const plain = (element: SchemaElement): SchemaElement => {
    if (element.converted_type !== "DECIMAL" && element.logical_type?.type !== "DECIMAL") {
      return element;
    }
    const { converted_type: _1, logical_type: _2, ...rest } = element;
    return rest;
  };
  return { ...metadata, schema: metadata.schema.map(plain) };
}

const parsers: ParquetParsers = {
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

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function unreadable(name: string, what: string, cause?: unknown): ReputeError {
  if (cause instanceof ReputeError) return cause;
  const said = cause instanceof Error ? `: ${cause.message}` : "";
  return new FatalError("parquet_unreadable", `cannot read ${name}: ${what}${said}`, {
    cause,
    hint: "Was it copied completely? Other programs, such as DuckDB, can write it again.",
  });
}
