import type {
  AsyncBuffer,
  Compressors,
  FileMetaData,
  ParquetParsers,
  ParquetReadOptions,
  SchemaElement,
  SchemaTree,
} from "hyparquet";
import { timeText } from "../../../core/clock.js";
import { FatalError, ReputeError } from "../../../core/errors.js";
import { faultReason } from "../../../core/files/system-fault.js";
import { loadDriver } from "../../../core/load-driver.js";
import { type InputValue, JsonText } from "../../formats/input-values.js";
import { parquetValues } from "./values.js";

const loadReader = () => loadDriver("hyparquet", () => import("hyparquet"));

export interface OpenedFile {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly tree: SchemaTree;
}

/**
 * Reads the footer of a file.
 *
 * @param name of the file in messages
 */
export async function openFile(path: string, name = path): Promise<OpenedFile> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetSchema } = await loadReader();
  try {
    const file = await asyncBufferFromFile(path);
    if (file.byteLength === 0) throw unreadable(name, "it is empty");
    const metadata = await parquetMetadataAsync(file);
    return { file, metadata, tree: parquetSchema(metadata) };
  } catch (error) {
    throw unreadable(name, "its footer cannot be read", error);
  }
}

interface ParquetReading {
  readonly name: string;
  /** Index of the first row. @default 0 */
  readonly first?: number;
  /** Index after the last row. @default all */
  readonly end?: number;
  /** Names of the columns to read, in this order. @default all */
  readonly columns?: readonly string[];
  /** Whether JSON stays as it is in the file: as text, with its line ends. @default false */
  readonly keepsJson?: boolean;
}

/** Reads rows, a slice of a row group at a time. */
export async function* parquetRows(
  { file, metadata, tree }: OpenedFile,
  { name, first = 0, end = Infinity, columns, keepsJson = false }: ParquetReading,
): AsyncGenerator<readonly (readonly InputValue[])[]> {
  const compressors = await compressorsFor(metadata);
  const nodes =
    columns?.map((wanted) => tree.children.find(({ element }) => element.name === wanted)!) ??
    tree.children;
  // Taken before the elements lose their types.
  const valuesOf = nodes.map(parquetValues);
  const exact = withExactValues(metadata);
  for (const slice of slices(metadata)) {
    const [rowStart, rowEnd] = [Math.max(slice.from, first), Math.min(slice.to, end)];
    if (rowEnd <= rowStart) continue;
    const what = `rows ${rowStart + 1} to ${rowEnd}`;
    const rows = await readRows({
      file,
      metadata: exact,
      compressors,
      parsers: keepsJson ? { ...parsers, jsonFromBytes: textOf } : parsers,
      utf8: false,
      ...(columns && { columns: [...columns] }),
      rowStart,
      rowEnd,
    }).catch((error: unknown) => {
      throw unreadable(name, `${what} cannot be read`, error);
    });
    if (rows.length !== rowEnd - rowStart) throw unreadable(name, `${what} are not all there`);
    yield rows.map((row) => valuesOf.map((valueOf, index) => valueOf(row[index])));
  }
}

/** Decoded bytes held at a time. A row group is decoded in slices of about this size. */
const sliceBytes = 32 * 1024 * 1024;

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

/** Reads rows as arrays: of these columns, or of all in their order. Errors are those of hyparquet. */
async function readRows(
  options: Omit<ParquetReadOptions, "rowFormat" | "onComplete">,
): Promise<readonly (readonly unknown[])[]> {
  const { parquetRead } = await loadReader();
  let found: readonly (readonly unknown[])[] = [];
  await parquetRead({ ...options, onComplete: (rows) => void (found = rows) });
  return found;
}

/** What decompresses the codecs that hyparquet does not have itself. */
async function compressorsFor({ row_groups: groups }: FileMetaData): Promise<Compressors> {
  const codecs = groups.flatMap(({ columns }) => columns.map((column) => column.meta_data?.codec));
  if (codecs.every((codec) => codec === "UNCOMPRESSED" || codec === "SNAPPY")) return {};
  const { compressors } = await loadDriver(
    "hyparquet-compressors",
    () => import("hyparquet-compressors"),
  );
  return compressors;
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

function unreadable(name: string, what: string, cause?: unknown): ReputeError {
  if (cause instanceof ReputeError) return cause;
  if ((cause as NodeJS.ErrnoException | undefined)?.syscall !== undefined) {
    return new FatalError("parquet_unreadable", `cannot read ${name}: ${faultReason(cause)}`, {
      cause,
      hint: "check the permissions of the file and its parent folders",
    });
  }
  const said = cause instanceof Error ? `: ${cause.message}` : "";
  return new FatalError("parquet_unreadable", `cannot read ${name}: ${what}${said}`, {
    cause,
    hint: "Was it copied completely? Other programs, such as DuckDB, can write it again.",
  });
}

/** A text with all its characters, a byte order mark included. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
