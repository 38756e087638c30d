import { openSource } from "./open-input.js";
import type { InputRange, SourceOptions } from "./types.js";

/**
 * Splits an uncompressed UTF-8 file into ranges of about `bytes` bytes that end with a row.
 * Together they contain all rows in order.
 * @param bytes minimum length of a range; the last one may be shorter
 * @throws as `openSource`
 */
export async function* splitInput(
  path: string,
  options: Omit<SourceOptions, "resume">,
  bytes: number,
): AsyncGenerator<InputRange> {
  const { rows, columns, reading } = await openSource({ path }, { ...options, resume: null });
  // The first range contains the header.
  let before = { start: 0, row: 0, line: 0 };
  let end = 0;
  for await (const batch of rows) {
    for (const { end: rowEnd, number, endLine } of batch) {
      end = rowEnd;
      if (end - before.start < bytes) continue;
      yield { ...before, end, columns, reading };
      before = { start: end, row: number, line: endLine };
    }
  }
  if (end > before.start) yield { ...before, end, columns, reading };
}
