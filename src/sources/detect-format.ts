import { basename } from "node:path";
import { withoutFailed } from "../core/failed-name.js";
import type { SourceFormat } from "./types.js";

/** What a file's name says about it. */
export interface DetectedFormat {
  /** Null when the name does not say; CSV is the default then. */
  readonly format: SourceFormat | null;
  /** The name ends in `.gz` (gzip is recognised by its first bytes as well). */
  readonly gzip: boolean;
}

/** Format of an input by the extension of its path, letter case aside; `-` (stdin) says nothing. */
export function detectSourceFormat(path: string): DetectedFormat {
  const name = basename(withoutFailed(path)).toLowerCase();
  const gzip = /\.(?:gz|gzip)$/.test(name);
  const extension = /\.([a-z]+)$/.exec(gzip ? name.replace(/\.[a-z]+$/, "") : name)?.[1] ?? "";
  return { format: formats.get(extension) ?? null, gzip };
}

const formats: ReadonlyMap<string, SourceFormat> = new Map([
  ["csv", "csv"],
  ["tsv", "tsv"],
  ["tab", "tsv"],
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
  ["json", "ndjson"],
  ["txt", "text"],
  ["text", "text"],
  ["list", "text"],
  ["lst", "text"],
  ["ioc", "text"],
  ["iocs", "text"],
  ["ipset", "text"],
  ["netset", "text"],
]);
