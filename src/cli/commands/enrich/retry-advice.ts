import { shellWord } from "../../../core/text/quantity.js";
import { earlierFormats } from "../../../formats/registry.js";
import { findWarehouse } from "../../../outputs/registry.js";
import type { Manifest } from "../../../core/manifest.js";
import { exitCodes } from "../../exit-code.js";

/**
 * How to retry the failed rows of a file; null if `retry` cannot read its format. A table takes no
 * rows of a file, which is then filled in itself.
 */
export function retryAdvice(
  { path, format }: Manifest["output"],
  target: string | null,
  prefix: string,
): string | null {
  if (path === null || ![...earlierFormats, "parquet"].includes(format)) return null;
  const isFile = target !== null && (findWarehouse(target)?.rows ?? null) === null;
  const into = isFile ? ` -o ${shellWord(target)}` : "";
  const flag = prefix === "rep_" ? "" : ` --prefix ${shellWord(prefix)}`;
  return `to retry the failed rows: repute retry ${shellWord(path)}${into}${flag}`;
}

/** The same for a finished run. Null also without failed rows, and for tables. */
export function retryFailedRows(
  { output, statuses, exit_code }: Manifest,
  prefix: string,
): string | null {
  const hasFailed = statuses.failed > 0 && exit_code === exitCodes.rowsFailed;
  return hasFailed ? retryAdvice(output, null, prefix) : null;
}
