import type {
  AsyncBuffer,
  Compressors,
  FileMetaData,
  ParquetReadOptions,
  SchemaTree,
} from "hyparquet";
import { FatalError, ReputeError } from "../../core/errors.js";
import { faultReason } from "../../core/files/system-fault.js";
import { loadDriver } from "../../core/load-driver.js";

/** Decoded bytes held at a time. A row group is decoded in slices of about this size. */
const sliceBytes = 32 * 1024 * 1024;

const loadReader = () => loadDriver("hyparquet", () => import("hyparquet"));

const builtIn: ReadonlySet<string> = new Set(["UNCOMPRESSED", "SNAPPY"]);

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

export function* slices({
  row_groups: groups,
}: FileMetaData): Generator<{ from: number; to: number }> {
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
export async function readRows(
  options: Omit<ParquetReadOptions, "rowFormat" | "onComplete">,
): Promise<readonly (readonly unknown[])[]> {
  const { parquetRead } = await loadReader();
  let found: readonly (readonly unknown[])[] = [];
  await parquetRead({ ...options, onComplete: (rows) => void (found = rows) });
  return found;
}

export async function compressorsFor(
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

export function unreadable(name: string, what: string, cause?: unknown): ReputeError {
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
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
