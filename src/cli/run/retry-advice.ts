import { shellWord } from "../../core/quantity.js";
import { earlierFormats } from "../../formats/registry.js";
import type { Manifest } from "../../pipeline/types.js";

/** How to retry the failed rows of a file; null if `retry` cannot read its format. */
export function retryAdvice(
  { path, format }: Manifest["output"],
  target: string,
  prefix: string,
): string | null {
  if (path === null || ![...earlierFormats, "parquet"].includes(format)) return null;
  const flag = prefix === "rep_" ? "" : ` --prefix ${shellWord(prefix)}`;
  return `to retry the failed rows: repute retry ${shellWord(path)} -o ${shellWord(target)}${flag}`;
}
