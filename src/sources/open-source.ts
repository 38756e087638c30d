import type { Row } from "../core/row.js";
import { limits } from "./limits.js";
import { type InputBytes, openInput } from "./open-input.js";
import type { OpenedSource, SourceInput, SourceOptions, SourcePosition } from "./types.js";
import { Warnings } from "./warnings.js";

/** What a format is given to read from. */
export interface Reading {
  readonly bytes: InputBytes;
  /** Where the bytes begin when a run goes on; null at the beginning. */
  readonly resume: SourcePosition | null;
  readonly warnings: Warnings;
}

/** What a format makes of it. */
export interface FormatReading {
  readonly columns: readonly string[];
  readonly itemColumn: string;
  /** Rows as they come, in lists of any length. */
  readonly rows: AsyncIterable<readonly Row[]>;
}

/** What all formats have in common: the input opened, rows in batches, the input closed at the end. */
export async function openSource(
  input: SourceInput,
  options: SourceOptions,
  begin: (reading: Reading) => Promise<FormatReading>,
): Promise<OpenedSource> {
  // With no row done the header is still to be read, as if nothing had been.
  const resume = options.resume === null || options.resume.row === 0 ? null : options.resume;
  const bytes = await openInput(input, {
    gzip: options.gzip,
    offset: resume?.offset ?? 0,
    before: options.resume?.input,
  });
  const warnings = new Warnings();
  if (bytes.transcodedFrom !== null) {
    warnings.add(`the input is ${bytes.transcodedFrom.toUpperCase()}; it is read as UTF-8`);
  }
  try {
    const { columns, itemColumn, rows } = await begin({ bytes, resume, warnings });
    return {
      columns,
      itemColumn,
      rows: inBatches(rows, bytes),
      bytesTotal: bytes.bytesTotal,
      bytesRead: () => bytes.bytesRead(),
      checksum: () => bytes.checksum(),
      warnings: warnings.counts,
      close: () => bytes.close(),
    };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

async function* inBatches(
  lists: AsyncIterable<readonly Row[]>,
  bytes: InputBytes,
): AsyncGenerator<readonly Row[]> {
  try {
    for await (const rows of lists) {
      for (let at = 0; at < rows.length; at += limits.batchRows) {
        yield rows.length <= limits.batchRows ? rows : rows.slice(at, at + limits.batchRows);
      }
    }
  } finally {
    await bytes.close();
  }
}
