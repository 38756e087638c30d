import { strip } from "../../core/item/refang.js";
import { isColumnName } from "../formats/columns/rate-columns.js";
import {
  delimiters,
  type HeadLines,
  headLines,
  peek,
  isHeadComplete,
} from "../formats/reading/sample.js";
import { findPreamble } from "../formats/csv/find-preamble.js";
import type { SourceFormat } from "../formats/types.js";
import { type InputOptions, openInput, pausesOf } from "./open-input.js";
import type { AnyInput, Encoding, SourceInput, SourceOptions } from "./types.js";

export interface SniffedInput {
  readonly input: AnyInput;
  readonly format: SourceFormat;
  /** Marker of the comments it starts with, or null. */
  readonly comment: string | null;
}

/**
 * Detects the format of an input whose name doesn't tell. A stream stays open and loses no bytes; a
 * file is opened again later.
 * @throws as `openInput`
 */
export async function sniffFormat(
  input: SourceInput,
  options: Encoding & Pick<SourceOptions, "comment" | "clock"> & Pick<InputOptions, "before">,
): Promise<SniffedInput> {
  const bytes = await openInput(input, { ...options, offset: 0 });
  try {
    const { head, chunks } = await peek(bytes.chunks, isHeadComplete, pausesOf(bytes, options));
    const comment = options.comment ?? "#";
    const lines = headLines(head, { lineEnd: bytes.lineEnd, comment });
    const marked = options.comment ?? (lines.comments.length > 0 ? comment : null);
    const found = { format: formatOf(lines), comment: marked };
    if (bytes.bytesTotal === null) return { input: { opened: { ...bytes, chunks } }, ...found };
    await bytes.close();
    return { input, ...found };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

function formatOf(lines: HeadLines): SourceFormat {
  const [first = ""] = lines.content;
  if (jsonStart.test(first.trimStart())) return "ndjson";
  const { delimiter } = findPreamble(lines, delimiters, { header: null, itemColumn: null });
  if (delimiter !== null) return delimiter === "\t" ? "tsv" : "csv";
  return isColumnName(strip(first)) ? "csv" : "text";
}

/**
 * An object, or an array of objects, for which the NDJSON reader has a helpful error.
 * `[2001:db8::1]:443` is neither.
 */
const jsonStart = /^(?:\{\s*(?:["}]|$)|\[\s*(?:[{"]|$))/;
