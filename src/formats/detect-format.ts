import { basename } from "node:path";
import { withoutFailed } from "../core/failed-name.js";
import type { SourceFormat } from "../inputs/types.js";

/** What a file's name says about it. */
export interface DetectedFormat {
  /** Null where the name does not say, as that of a `.txt` file: its first lines do. */
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
]);
