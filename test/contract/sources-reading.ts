import { Readable } from "node:stream";
import type { Row } from "../../src/core/row.js";
import { sources } from "../../src/sources/registry.js";
import type {
  OpenedSource,
  SourceFormat,
  SourceInput,
  SourceOptions,
  SourcePosition,
} from "../../src/sources/types.js";

/** Options as they are when no flag is given. */
const plainOptions: Omit<SourceOptions, "format"> = {
  gzip: false,
  header: true,
  comment: null,
  itemColumn: null,
  kindColumn: null,
  resume: null,
};

/** Content as a stream in chunks of `size` bytes. */
export function streamOf(content: string | Buffer, size = 65_536): Readable {
  const bytes = Buffer.from(content);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return Readable.from(chunks, { objectMode: false });
}

/** An input that is piped in. */
export function piped(content: string | Buffer, size?: number): SourceInput {
  return { stream: streamOf(content, size), name: "stdin" };
}

export async function openSource(
  format: SourceFormat,
  input: SourceInput,
  options: Partial<SourceOptions> = {},
): Promise<OpenedSource> {
  return sources[format](input, { ...plainOptions, format, ...options });
}

/** Everything that a source gives. */
export interface ReadSource {
  readonly source: OpenedSource;
  readonly rows: readonly Row[];
}

export async function readSource(
  format: SourceFormat,
  input: SourceInput,
  options: Partial<SourceOptions> = {},
): Promise<ReadSource> {
  const source = await openSource(format, input, options);
  const rows: Row[] = [];
  for await (const batch of source.rows) rows.push(...batch);
  return { source, rows };
}

/** A row's members as plain data, whatever the class that holds them. */
export function plainRow(row: Row): Row {
  return {
    number: row.number,
    line: row.line,
    cells: [...row.cells],
    extra: row.extra,
    json: row.json,
    itemText: row.itemText,
    kindText: row.kindText,
    fault: row.fault,
    end: row.end,
    endLine: row.endLine,
  };
}

/** Where a run goes on whose last row was this one. */
export function positionAfter(row: Row, columns: readonly string[]): SourcePosition {
  return { offset: row.end, row: row.number, line: row.endLine, columns };
}
