import type {
  AsyncBuffer,
  Compressors,
  FileMetaData,
  ParquetParsers,
  SchemaElement,
  SchemaTree,
} from "hyparquet";
import { timeText } from "../../../core/clock.js";
import { FatalError, ReputeError } from "../../../core/errors.js";
import { faultReason } from "../../../core/files/system-fault.js";
import { loadDriver } from "../../../core/load-driver.js";
import {
  decimalText,
  decimalType,
  floatText,
  type InputType,
  numberText,
  type StoredType,
} from "../../formats/column-types.js";
import type { CopiedRow } from "../../input/table-input.js";

const loadReader = () => loadDriver("hyparquet", () => import("hyparquet"));

export type ParquetFile = Awaited<ReturnType<typeof openParquet>>;

/** Reads the footer of a file. @param name of it in messages */
export async function openParquet(path: string, name = path) {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetSchema } = await loadReader();
  try {
    const file = await asyncBufferFromFile(path);
    if (file.byteLength === 0) throw unreadable(name, "it is empty");
    const metadata = await parquetMetadataAsync(file);
    const tree = parquetSchema(metadata);
    return {
      names: tree.children.map(({ element }) => element.name),
      types: tree.children.map(parquetType),
      count: Number(metadata.num_rows),
      /** Reads rows, a slice of a row group at a time. */
      rows: (reading?: ParquetReading) => parquetRows(name, file, metadata, tree.children, reading),
    };
  } catch (error) {
    throw unreadable(name, "its footer cannot be read", error);
  }
}

interface ParquetReading {
  /** Index of the first row. @default 0 */
  readonly first?: number;
  /** Index after the last row. @default all */
  readonly end?: number;
  /** Names of the columns to read, in this order. @default all */
  readonly columns?: readonly string[];
  /** Whether JSON stays as it is in the file: as text, with its line ends. @default false */
  readonly keepsJson?: boolean;
}

async function* parquetRows(
  name: string,
  file: AsyncBuffer,
  metadata: FileMetaData,
  children: readonly SchemaTree[],
  { first = 0, end = Infinity, columns, keepsJson = false }: ParquetReading = {},
): AsyncGenerator<readonly CopiedRow[]> {
  const { parquetRead } = await loadReader();
  const compressors = await compressorsFor(metadata);
  const nodes =
    columns?.map((wanted) => children.find(({ element }) => element.name === wanted)!) ?? children;
  // Taken before the elements lose their types.
  const valuesOf = nodes.map(parquetValues);
  const exact = withExactValues(metadata);
  for (const slice of slices(metadata)) {
    const [rowStart, rowEnd] = [Math.max(slice.from, first), Math.min(slice.to, end)];
    if (rowEnd <= rowStart) continue;
    const what = `rows ${rowStart + 1} to ${rowEnd}`;
    let rows: readonly (readonly unknown[])[] = [];
    await parquetRead({
      file,
      metadata: exact,
      compressors,
      parsers: keepsJson ? { ...parsers, jsonFromBytes: textOf } : parsers,
      utf8: false,
      ...(columns && { columns: [...columns] }),
      rowStart,
      rowEnd,
      onComplete: (found) => void (rows = found),
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

/** The name of a type: logical, else converted, else physical. */
function typeName({ type, converted_type, logical_type }: SchemaElement): string {
  return logical_type?.type ?? converted_type ?? type ?? "";
}

/** Types that hyparquet rounds or refuses. */
const inexact: ReadonlySet<string> = new Set(["DECIMAL", "INTERVAL", "BSON"]);

/**
 * Without the types that hyparquet rounds or refuses. Their values are read as integers or bytes, which
 * are exact.
 */
function withExactValues(metadata: FileMetaData): FileMetaData {
  const plain = (element: SchemaElement): SchemaElement => {
    if (!inexact.has(typeName(element))) return element;
    const { converted_type: _1, logical_type: _2, ...rest } = element;
    return rest;
  };
  return { ...metadata, schema: metadata.schema.map(plain) };
}

/** JSON in a column, which is no text. */
class JsonText {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** Parsers whose values `parquetValues` takes. */
const parsers: ParquetParsers = {
  timestampFromMilliseconds: (units: bigint) => timeText(units, 3),
  timestampFromMicroseconds: (units: bigint) => timeText(units, 6),
  timestampFromNanoseconds: (units: bigint) => timeText(units, 9),
  dateFromDays: (days: number) =>
    timeText(BigInt(days) * 86_400n, 0).slice(0, -"T00:00:00Z".length),
  stringFromBytes: (bytes: Uint8Array) => textOf(bytes),
  jsonFromBytes: (bytes: Uint8Array) => new JsonText(textOf(bytes).replaceAll(/[\r\n]+/g, " ")),
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
  const said = what + (cause instanceof Error ? `: ${cause.message}` : "");
  return new FatalError("parquet_unreadable", `cannot read ${name}: ${said}`, {
    cause,
    hint: "Was it copied completely? Restore it from a copy, or let another program such as DuckDB write it again.",
  });
}

/** A text with all its characters, a byte order mark included. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Returns a function that makes JSON of the values of a column. */
function parquetValues(column: SchemaTree): (value: unknown) => CopiedRow[number] {
  const leaf = onlyLeaf(column);
  const scalar = leaf === null ? plain : scalarOf(leaf.element);
  const members = new Map<string, (value: unknown) => string | null>();
  const memberOf = (name: string): ((value: unknown) => string | null) => {
    let found = members.get(name);
    if (found === undefined) {
      const node = childNamed(column, name);
      found = node === null ? scalarOf(null) : parquetValues(node);
      members.set(name, found);
    }
    return found;
  };
  const read = (value: unknown): string | null => {
    if (value === null || value === undefined) return null;
    if (typeof value === "string") return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map((entry) => read(entry) ?? "null").join(",")}]`;
    if (value instanceof JsonText) return value.json;
    if (typeof value !== "object" || value instanceof Uint8Array) return scalar(value);
    const texts = Object.entries(value).map(
      ([name, of]) => `${JSON.stringify(name)}:${memberOf(name)(of) ?? "null"}`,
    );
    return `{${texts.join(",")}}`;
  };
  return read;
}

/** The only leaf below a node; null if there are several. */
function onlyLeaf(node: SchemaTree): SchemaTree | null {
  const { children } = node;
  if (children.length === 0) return node;
  return children.length === 1 ? onlyLeaf(children[0]!) : null;
}

function childNamed(node: SchemaTree, name: string): SchemaTree | null {
  const named = node.children.find(({ element }) => element.name === name);
  if (named !== undefined) return named;
  const [only] = node.children;
  return only !== undefined && node.children.length === 1 ? childNamed(only, name) : null;
}

const plain = scalarOf(null);

/** Returns a function that makes JSON of the values of a leaf that are neither text nor JSON. */
function scalarOf(element: SchemaElement | null): (value: unknown) => string {
  const { type, logical_type: logical } = element ?? {};
  const name = element === null ? "" : typeName(element);
  if (name === "DECIMAL") {
    const scale = element?.scale ?? (logical?.type === "DECIMAL" ? logical.scale : 0);
    return (value) => decimalText(integerOf(value), scale);
  }
  if (/^TIME(?:_|$)/.test(name)) {
    const unit = logical?.type === "TIME" ? logical.unit : name.slice("TIME_".length);
    const decimals = unit === "NANOS" ? 9 : unit === "MICROS" ? 6 : 3;
    return (value) => JSON.stringify(clockText(integerOf(value), decimals));
  }
  // Twelve bytes: months, days and milliseconds.
  if (name === "INTERVAL") return (value) => JSON.stringify(hexText(value as Uint8Array));
  const textOfNumber = type === "FLOAT" ? floatText : numberText;
  return (value) => {
    if (typeof value === "bigint" || typeof value === "boolean") return String(value);
    if (value instanceof Uint8Array) return JSON.stringify(bytesText(value));
    const text = typeof value === "number" ? textOfNumber(value) : String(value);
    // JSON lacks NaN and the infinities.
    return /^-?\d/.test(text) ? text : JSON.stringify(text);
  };
}

/** A whole number, or the big-endian two's complement of one. */
function integerOf(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(value as number | bigint);
  if (value.length === 0) return 0n;
  return BigInt.asIntN(value.length * 8, BigInt(`0x${Buffer.from(value).toString("hex")}`));
}

/** A time of day, which may be 24:00:00. */
function clockText(units: bigint, decimals: number): string {
  const hours = String(units / (3_600n * 10n ** BigInt(decimals))).padStart(2, "0");
  return hours + timeText(units, decimals).slice("1970-01-01T00".length, -1);
}

/** Bytes without a type are text if they are UTF-8, otherwise shown in hexadecimal. */
function bytesText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    return hexText(bytes);
  }
}

function hexText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parquetType({ element, children }: SchemaTree): InputType {
  const name = typeName(element);
  if (children.length > 0 || element.repetition_type === "REPEATED") {
    if (name === "LIST") return { type: null, declared: "a list" };
    return { type: null, declared: name.startsWith("MAP") ? "a map" : "nested" };
  }
  const { logical_type: logical } = element;
  const unit = logical?.type === "TIMESTAMP" ? `(${logical.unit})` : "";
  return { type: scalarType(element), declared: `${name}${unit}` || "untyped" };
}

function scalarType(element: SchemaElement): StoredType | null {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (typeName(element) === "DECIMAL") {
    const own = logical?.type === "DECIMAL" ? logical : null;
    const { precision = own?.precision ?? 0, scale = own?.scale ?? 0 } = element;
    return decimalType(precision, scale) ?? "numeric";
  }
  if (logical?.type === "INTEGER") {
    return logical.bitWidth === 64 && !logical.isSigned ? "decimal(20,0)" : "integer";
  }
  if (logical?.type === "TIMESTAMP") {
    const { unit, isAdjustedToUTC } = logical;
    if (unit === "NANOS") return isAdjustedToUTC ? "timestamp_ns" : "timestamp_ns_local";
    return isAdjustedToUTC ? "timestamp" : "timestamp_local";
  }
  const names = [logical?.type, converted, type].filter((name) => name !== undefined);
  const known = names.find((name) => untyped.test(name) || scalarTypes.has(name)) ?? "";
  return scalarTypes.get(known) ?? null;
}

/** By logical, else converted, else physical type. */
const scalarTypes: ReadonlyMap<string, StoredType> = new Map([
  ["DATE", "date"],
  ["UUID", "uuid"],
  ["JSON", "json"],
  ["FLOAT16", "float"],
  ["STRING", "text"],
  ["ENUM", "text"],
  ["UTF8", "text"],
  ["TIMESTAMP_MILLIS", "timestamp"],
  ["TIMESTAMP_MICROS", "timestamp"],
  ["UINT_64", "decimal(20,0)"],
  ["BOOLEAN", "boolean"],
  ["INT32", "integer"],
  ["INT64", "integer"],
  // Nanoseconds of programs that know no time zone.
  ["INT96", "timestamp_ns_local"],
  ["FLOAT", "float"],
  ["DOUBLE", "number"],
  // Bytes without a type are mostly text of old writers.
  ["BYTE_ARRAY", "text"],
]);

/** Logical and converted types that become text, with a warning. */
const untyped = /^(?:TIME(?:_MILLIS|_MICROS)?|INTERVAL|BSON|GEOMETRY|GEOGRAPHY|VARIANT)$/;
