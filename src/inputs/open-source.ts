import { systemClock } from "../core/clock.js";
import type { Row } from "../core/row.js";
import { limits } from "../formats/reading/limits.js";
import { Pauses } from "../formats/reading/sample.js";
import { formats } from "../formats/registry.js";
import { type InputBytes, openInput } from "./open-input.js";
import type { AnyInput, InputRange, OpenedSource, SourceOptions } from "./types.js";

/** Opens an input and finds its columns. @throws ReputeError when it cannot be read */
export async function openSource(input: AnyInput, options: SourceOptions): Promise<OpenedSource> {
  const range = "path" in input ? (input.range ?? null) : null;
  const settled = options.resume ?? range;
  // With no row done the header is still to be read.
  const resume = options.resume?.row === 0 ? null : options.resume;
  const bytes = await openInput(input, {
    gzip: options.gzip,
    offset: resume?.offset ?? 0,
    before: options.resume?.input,
  });
  const { warnings } = bytes;
  const pauses = pausesOf(bytes, options);
  try {
    const { columns, reading, rows } = await formats[options.format].read(
      { bytes, before: resume ?? rangeBehindHeader(range), settled, warnings, pauses },
      options,
    );
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

/** A range from the first byte on has the header in it. */
function rangeBehindHeader(range: InputRange | null): InputRange | null {
  return range?.start === 0 ? null : range;
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
