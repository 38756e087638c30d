import { basename } from "node:path";
import { withoutFailed } from "../core/files/make-folder.js";
import { csv, tsv } from "./csv/csv.js";
import { ndjson } from "./ndjson/ndjson.js";
import { ecs } from "./shapes/ecs.js";
import { esBulk } from "./shapes/es-bulk.js";
import { ocsf } from "./shapes/ocsf.js";
import { splunkHec } from "./shapes/splunk-hec.js";
import { stix } from "./shapes/stix.js";
import { text } from "./text.js";
import type { ReadableFormat, WritableFormat } from "./types.js";

/** All text formats. To add one, write its file and add it here. */
export const formats = {
  csv,
  tsv,
  ndjson,
  text,
  ecs,
  ocsf,
  stix,
  "es-bulk": esBulk,
  "splunk-hec": splunkHec,
};

type Formats = typeof formats;

/** Formats that can be read. */
export type SourceFormat = {
  [Name in keyof Formats]: Formats[Name] extends { read: unknown } ? Name : never;
}[keyof Formats];

/** Formats that can be written. */
export type SinkFormat = {
  [Name in keyof Formats]: Formats[Name] extends { write: unknown } ? Name : never;
}[keyof Formats];

export const sourceFormats = namesWith("read") as readonly SourceFormat[];
export const sinkFormats = namesWith("write") as readonly SinkFormat[];
/** Formats whose rows `retry` can replace in place. */
export const earlierFormats = namesWith("earlier");

/** Format and compression implied by a file name. */
export interface DetectedFormat<Name> {
  /** Null if the name doesn't tell, as for `.txt`; the first lines then decide. */
  readonly format: Name | null;
  /** True if the name implies gzip. */
  readonly gzip: boolean;
}

/**
 * Detects an input's format from its file extension, ignoring case. `-` (stdin) implies nothing.
 */
export function detectSourceFormat(path: string): DetectedFormat<SourceFormat> {
  return detect(withoutFailed(path), sourceFormats, /\.(?:gz|gzip)$/);
}

/** Detects an output's format and compression from its file name. */
export function detectSinkFormat(path: string): DetectedFormat<SinkFormat> {
  return detect(path, sinkFormats, /\.gz$/);
}

function detect<Name extends keyof Formats>(
  path: string,
  names: readonly Name[],
  compressed: RegExp,
): DetectedFormat<Name> {
  const whole = basename(path).toLowerCase();
  const name = whole.replace(compressed, "");
  const extension = name.slice(name.lastIndexOf(".") + 1);
  const found = names.find((format) => formats[format].extensions.includes(extension));
  return { format: found ?? null, gzip: name !== whole };
}

function namesWith(ability: keyof ReadableFormat | keyof WritableFormat): readonly string[] {
  return Object.entries(formats).flatMap(([name, format]) => (ability in format ? [name] : []));
}
