import { onTestFinished, vi } from "vitest";
import { limits } from "../../../../src/io/formats/reading/lines.js";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Row } from "../../../../src/core/row.js";
import type { InputReading, SourceFormat } from "../../../../src/io/formats/types.js";
import { openSource as open } from "../../../../src/io/input/open-source.js";
import type {
  InputBytes,
  OpenedSource,
  SourceInput,
  SourceOptions,
  SourcePosition,
} from "../../../../src/io/input/types.js";

/** Options that leave nothing to detect; tests of detection set their own. */
const plainOptions: Omit<SourceOptions, "format"> = {
  gzip: false,
  header: true,
  comment: null,
  itemColumn: "item",
  startAt: null,
};

type AnyInput = Parameters<typeof open>[0];

/** Content as a stream of chunks of `size` bytes. */
export function streamOf(content: string | Buffer, size = 65_536): Readable {
  const bytes = Buffer.from(content);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return Readable.from(chunks, { objectMode: false });
}

/** A piped input. */
export function piped(content: string | Buffer, size?: number): SourceInput {
  return { stream: streamOf(content, size), name: "stdin" };
}

/** All bytes of an input, which is closed. */
export async function contentOf(bytes: InputBytes): Promise<Buffer> {
  try {
    return await buffer(bytes.chunks);
  } finally {
    await bytes.close();
  }
}

export async function openSource(
  format: SourceFormat,
  input: AnyInput,
  options: Partial<SourceOptions> = {},
): Promise<OpenedSource> {
  return open(input, { ...plainOptions, from: format, format, ...options });
}

/** Everything a source returns. */
export interface ReadSource {
  readonly source: OpenedSource;
  readonly rows: readonly Row[];
}

export async function readSource(
  format: SourceFormat,
  input: AnyInput,
  options: Partial<SourceOptions> = {},
): Promise<ReadSource> {
  const source = await openSource(format, input, options);
  const rows: Row[] = [];
  for await (const batch of source.rows) rows.push(...batch);
  return { source, rows };
}

/** A row's members as plain data, whatever its class. */
export function plainRow(row: Row): Row {
  return {
    number: row.number,
    cells: [...row.cells],
    extra: row.extra,
    json: row.json,
    itemText: row.itemText,
    itemNotText: row.itemNotText ?? false,
    kindText: row.kindText,
    fault: row.fault,
    size: row.size,
  };
}

/** What a resumed run knows of its input. */
export function positionIn({
  columns,
  reading,
}: Pick<OpenedSource, "columns" | "reading">): SourcePosition {
  return { row: 1, columns, reading };
}

/** How an input is read if a flag names the item column. */
export function readingOf(
  format: SourceFormat,
  item = "item",
  rest: Partial<InputReading> = {},
): InputReading {
  const delimiter = delimiterOf(format);
  return {
    format,
    delimiter,
    comment: null,
    spaced: false,
    header: delimiter === null ? "none" : "record",
    items: [{ name: item, index: 0, by: "flag", sample: null }],
    kind: null,
    ...rest,
  };
}

/** Default delimiter of a format; null if it has none. */
export function delimiterOf(name: SourceFormat): string | null {
  return name === "csv" ? "," : name === "tsv" ? "\t" : null;
}

/** Lowers the limit of a record, for a fast test. Returns a length beyond it. */
export function limitRecords(): number {
  const limit = vi.spyOn(limits, "recordBytes", "get").mockReturnValue(2 ** 18);
  onTestFinished(() => limit.mockRestore());
  return 2 ** 18 + 2 ** 16;
}
