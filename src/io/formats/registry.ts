import { basename } from "node:path";
import { csv, tsv } from "./csv/csv.js";
import { ndjson } from "./ndjson/ndjson.js";
import { esBulk, stix } from "./shapes.js";
import { text } from "./text.js";
import {
  type ReadableFormat,
  type SinkFormat,
  sinkFormats,
  type SourceFormat,
  type WritableFormat,
} from "./types.js";
import { withoutFailed } from "../../core/files/output-names.js";
import { sourceOptions } from "./source-options.js";

export const formats = {
  csv,
  tsv,
  // Inputs only: a document is converted into NDJSON.
  json: { ...ndjson, extensions: ["json"] },
  ndjson,
  text,
  stix,
  "es-bulk": esBulk,
} satisfies Record<SourceFormat, ReadableFormat> & Record<SinkFormat, WritableFormat>;

const sourceFormats = sourceOptions.shape.from.unwrap();

/** Formats of files whose rows can be read back, and replaced by `retry`. */
export const readableFormats: readonly string[] = [
  ...sinkFormats.filter((name) => "records" in formats[name]),
  "parquet",
];

/**
 * Detects an input's format from its file extension, ignoring case. `-` (stdin) implies nothing, and
 * names such as `.txt` neither: the first lines then decide.
 */
export function detectSourceFormat(path: string) {
  // A workbook is converted into rows of cells.
  if (/\.xlsx$/i.test(path)) return { format: "csv" as const, gzip: false };
  return detect(withoutFailed(path), sourceFormats.options, /\.(?:gz|gzip)$/);
}

export function detectSinkFormat(path: string) {
  return detect(path, sinkFormats, /\.gz$/);
}

function detect<Name extends keyof typeof formats>(
  path: string,
  names: readonly Name[],
  compressed: RegExp,
) {
  const whole = basename(path).toLowerCase();
  const name = whole.replace(compressed, "");
  const extension = name.slice(name.lastIndexOf(".") + 1);
  const found = names.find((format) => formats[format].extensions.includes(extension));
  return { format: found ?? null, gzip: name !== whole };
}
