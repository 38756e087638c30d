import { basename } from "node:path";
import { withoutFailed } from "../core/files/make-folder.js";
import { csv, tsv } from "./csv/csv.js";
import { ndjson } from "./ndjson/ndjson.js";
import { ecs } from "./shapes/ecs.js";
import { ocsf } from "./shapes/ocsf.js";
import { stix } from "./shapes/stix.js";
import { text } from "./text.js";
import type { ReadableFormat, WritableFormat } from "./types.js";

/** Every text format; another one is a file and a line here. */
export const formats = { csv, tsv, ndjson, text, ecs, ocsf, stix };

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
/** Formats whose rows `retry` fills in. */
export const earlierFormats = namesWith("earlier");

/** What a file's name says about it. */
export interface DetectedFormat<Name> {
  /** Null where the name does not say, as that of a `.txt` file: its first lines do. */
  readonly format: Name | null;
  /** The name says that it is compressed. */
  readonly gzip: boolean;
}

/** Format of an input by the extension of its path, letter case aside; `-` (stdin) says nothing. */
export function detectSourceFormat(path: string): DetectedFormat<SourceFormat> {
  return detect(withoutFailed(path), sourceFormats, /\.(?:gz|gzip)$/);
}

/** Format and compression that an output's name asks for. */
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
