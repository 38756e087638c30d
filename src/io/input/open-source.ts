import {
  delimiters,
  type HeadLines,
  headLines,
  isHeadComplete,
  peek,
} from "../formats/reading/sample.js";
import { holdMarked } from "./tlp-rows.js";
import { type InputOptions, openInput } from "./open-input.js";
import { objectLines } from "./table-input.js";
import {
  type AnyInput,
  type InputBytes,
  type OpenedSource,
  type SourceInput,
  type SourceOptions,
} from "./types.js";
import { UsageError } from "../../core/errors.js";
import type { Row } from "../../core/row.js";
import { readCells } from "../formats/csv/csv.js";
import { formats } from "../formats/registry.js";
import { isColumnName } from "../formats/columns/rate-columns.js";
import { findPreamble } from "../formats/csv/find-header.js";
import type { SourceFormat } from "../formats/types.js";
import { strip } from "../../core/item/refang.js";

export async function openSource(input: AnyInput, options: SourceOptions): Promise<OpenedSource> {
  const bytes = await openInput(input, { ...options, before: options.startAt?.input });
  const { warnings } = bytes;
  try {
    const { kind, shape, types: typesOf } = ("path" in input && input.copyOf) || {};
    const types = typesOf?.() ?? [];
    const text = shape === "objects" ? { ...bytes, chunks: objectLines(bytes, types) } : bytes;
    const format = shape === "cells" ? { read: readCells } : formats[options.format];
    const found = await format.read(text, { ...options, isTable: shape !== undefined });
    const rows = untilClosed(holdMarked(bytes.name, found, options, warnings), bytes);
    // Objects have the types in themselves.
    return { ...bytes, ...found, kind, ...(shape === "cells" && { types }), rows };
  } catch (error) {
    await bytes.close();
    if (!(error instanceof UsageError)) throw error;
    // The other sheets of a workbook may be what is looked for.
    const { code, message, hint, command } = error;
    const notes = [...warnings, ...(hint === null ? [] : [hint])].join("; ");
    throw new UsageError(code, message, { hint: notes, ...(command && { command }), cause: error });
  }
}

/** Batches that are not empty. Leaving the loop early closes the input. */
async function* untilClosed(
  lists: AsyncIterable<readonly Row[]>,
  bytes: InputBytes,
): AsyncGenerator<readonly Row[]> {
  await using _ = bytes;
  for await (const rows of lists) if (rows.length > 0) yield rows;
}

/**
 * Detects the format of an input whose name doesn't tell. A stream stays open and loses no bytes; a
 * file is opened again later.
 * @returns it, its format, and the marker of the comments it starts with, or null
 * @throws as `openInput`
 */
export async function sniffFormat(
  input: SourceInput,
  options: InputOptions & Pick<SourceOptions, "comment">,
) {
  const bytes = await openInput(input, options);
  try {
    const { head, chunks } = await peek(bytes.chunks, isHeadComplete);
    const comment = options.comment ?? "#";
    const lines = headLines(head, { lineEnd: bytes.lineEnd, comment });
    const marked = options.comment ?? (lines.comments.length > 0 ? comment : null);
    const isStream = bytes.bytesTotal === null;
    if (!isStream) await bytes.close();
    const sniffed: AnyInput = isStream ? { opened: { ...bytes, chunks } } : input;
    return { input: sniffed, format: formatOf(lines), comment: marked };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

function formatOf(lines: HeadLines): SourceFormat {
  const [first = ""] = lines.content;
  if (jsonStart.test(first.trimStart())) return "ndjson";
  const { delimiter } = findPreamble(lines, delimiters, {});
  if (delimiter !== null) return delimiter === "\t" ? "tsv" : "csv";
  return isColumnName(strip(first)) ? "csv" : "text";
}

/**
 * An object, or an array of objects, for which the NDJSON reader has a helpful error.
 * `[2001:db8::1]:443` is neither.
 */
const jsonStart = /^(?:\{\s*(?:["}]|$)|\[\s*(?:[{"]|$))/;
