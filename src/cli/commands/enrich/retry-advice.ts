import { existsSync } from "node:fs";
import { shellWord } from "../../../core/text/quantity.js";
import { earlierFormats } from "../../../formats/registry.js";
import { findWarehouse } from "../../../outputs/registry.js";
import type { Manifest } from "../../../run/types.js";
import { exitCodes } from "../../exit-code.js";

/**
 * How to retry the failed rows of a file; null if `retry` cannot read its format. A table takes no
 * rows of a file, so they go to another file.
 */
export function retryAdvice(
  { path, format }: Manifest["output"],
  target: string,
  prefix: string,
): string | null {
  if (path === null || ![...earlierFormats, "parquet"].includes(format)) return null;
  const into = (findWarehouse(target)?.fill ?? null) === null ? target : numbered(path);
  const flag = prefix === "rep_" ? "" : ` --prefix ${shellWord(prefix)}`;
  return `to retry the failed rows: repute retry ${shellWord(path)} -o ${shellWord(into)}${flag}`;
}

/** The same for a finished run, into a new file. Null also without failed rows, and for tables. */
export function retryFailedRows(
  { output, statuses, exit_code }: Manifest,
  prefix: string,
): string | null {
  const { path } = output;
  if (path === null || statuses.failed === 0 || exit_code !== exitCodes.rowsFailed) return null;
  if (path.includes("://") || (findWarehouse(path)?.target.kind ?? "parquet") !== "parquet") {
    return null;
  }
  return retryAdvice(output, numbered(path), prefix);
}

/** `out.2.ndjson.gz` for `out.ndjson.gz`, or with the next number that is free. */
function numbered(path: string, number = 2): string {
  const name = path.replace(/(?:\.[^./]+(?:\.gz)?)?$/, (extension) => `.${number}${extension}`);
  const isTaken = existsSync(name) || existsSync(`${name}.state`);
  return isTaken ? numbered(path, number + 1) : name;
}
