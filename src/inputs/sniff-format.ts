import { parseKindName } from "../core/item/item.js";
import { strip } from "../core/item/refang.js";
import { customaryItemColumns } from "../formats/columns/find-column.js";
import { delimiters } from "../formats/csv/scan-cells.js";
import { sniffDelimiter } from "../formats/csv/csv-layout.js";
import { headLines, peek, settlesHead } from "../formats/reading/sample.js";
import type { SourceFormat } from "../formats/types.js";
import { openInput, pausesOf } from "./open-input.js";
import type { AnyInput, SourceInput, SourceOptions } from "./types.js";

/** An input and the format that its first lines have. */
export interface SniffedInput {
  readonly input: AnyInput;
  readonly format: SourceFormat;
  /** What marks the comments that it begins with, or null. */
  readonly comment: string | null;
}

/**
 * Looks into an input whose name says nothing about its format. A stream stays open, with nothing
 * lost; a file is opened again later.
 *
 * @throws as `openInput`
 */
export async function sniffFormat(
  input: SourceInput,
  options: Pick<SourceOptions, "gzip" | "comment" | "clock">,
): Promise<SniffedInput> {
  const bytes = await openInput(input, { gzip: options.gzip, offset: 0 });
  try {
    const { head, chunks } = await peek(bytes.chunks, settlesHead, pausesOf(bytes, options));
    const comment = options.comment ?? "#";
    const { content, comments } = headLines(head, { lineEnd: bytes.lineEnd, comment });
    const marked = options.comment ?? (comments.length > 0 ? comment : null);
    const found = { format: formatOf(content), comment: marked };
    if (bytes.bytesTotal === null) return { input: { opened: { ...bytes, chunks } }, ...found };
    await bytes.close();
    return { input, ...found };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

function formatOf(content: readonly string[]): SourceFormat {
  const [first = ""] = content;
  if (beginsJson.test(first.trimStart())) return "ndjson";
  const delimiter = sniffDelimiter(content, delimiters);
  if (delimiter !== null) return delimiter === "\t" ? "tsv" : "csv";
  return isColumnName(strip(first)) ? "csv" : "text";
}

/** An object, and what reading NDJSON explains: an array of objects. `[2001:db8::1]:443` is neither. */
const beginsJson = /^(?:\{\s*(?:["}]|$)|\[\s*(?:[{"]|$))/;

/** A line `ip` above addresses names a column; no item reads so. */
function isColumnName(text: string): boolean {
  return customaryItemColumns.includes(text.toLowerCase()) || parseKindName(text) !== null;
}
