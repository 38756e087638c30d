import { systemClock } from "../core/clock.js";
import type { Row } from "../core/row.js";
import { limits } from "../formats/limits.js";
import { type InputBytes, openInput } from "./open-input.js";
import { Pauses } from "./pauses.js";
import type {
  AnyInput,
  InputReading,
  OpenedSource,
  SourceOptions,
  SourcePosition,
} from "./types.js";
import type { Warnings } from "../formats/warnings.js";

/** What a format is given to read from. */
export interface Reading {
  readonly bytes: InputBytes;
  /** Where the bytes begin when a run goes on; null at the beginning. */
  readonly resume: SourcePosition | null;
  /** What was settled when the run began; null when it begins. */
  readonly settled: Pick<SourcePosition, "columns" | "reading"> | null;
  readonly warnings: Warnings;
  /** Null for a file, which can be sampled at once. */
  readonly pauses: Pauses | null;
}

/** What a format makes of it. */
export interface FormatReading {
  readonly columns: readonly string[];
  readonly reading: InputReading;
  /** Rows as they come, in lists of any length. */
  readonly rows: AsyncIterable<readonly Row[]>;
}

/** What all formats have in common: the input opened, rows in batches, the input closed at the end. */
export async function openSource(
  input: AnyInput,
  options: SourceOptions,
  begin: (reading: Reading) => Promise<FormatReading>,
): Promise<OpenedSource> {
  // With no row done the header is still to be read; how, was settled all the same.
  const resume = options.resume === null || options.resume.row === 0 ? null : options.resume;
  const bytes = await openInput(input, {
    gzip: options.gzip,
    offset: resume?.offset ?? 0,
    before: options.resume?.input,
  });
  const { warnings } = bytes;
  const pauses = pausesOf(bytes, options);
  try {
    const settled = options.resume;
    const { columns, reading, rows } = await begin({ bytes, resume, settled, warnings, pauses });
    return {
      columns,
      reading,
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

/** A stream may be a live one; a file is not waited for. */
export function pausesOf(
  bytes: InputBytes,
  { clock }: Pick<SourceOptions, "clock">,
): Pauses | null {
  return bytes.bytesTotal === null ? new Pauses(clock ?? systemClock) : null;
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
