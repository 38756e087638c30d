import { UsageError } from "../../core/errors.js";
import { formats } from "../../formats/registry.js";
import { sinkFormats } from "../../formats/types.js";
import type { SinkSettings } from "../../outputs/options.js";

/**
 * Refuses flags about columns for rows without: those that hold answers as received, or the fields of
 * another schema.
 *
 * @param name format of the rows
 * @throws UsageError `raw_needs_columns`, `columns_need_flat`
 */
export function refuseWithoutColumns(
  { raw = false, columns, shape }: Partial<Pick<SinkSettings, "raw" | "columns" | "shape">>,
  name: string,
): void {
  const format = sinkFormats.find((known) => known === name);
  if (format === undefined || (!raw && columns === undefined)) return;
  const isNested = format === "ndjson" && shape !== "flat";
  if (!isNested && formats[format].earlier !== undefined) return;
  const [flag, does] = raw ? ["--raw", "adds"] : ["--columns", "chooses"];
  const why = raw ? ": nested rows already have the results as received; or" : ", or";
  throw new UsageError(
    raw ? "raw_needs_columns" : "columns_need_flat",
    `${flag} ${does} columns, and ${isNested ? "nested NDJSON" : format} has none`,
    {
      hint: isNested
        ? `leave out ${flag}${why} add --shape flat`
        : `leave out ${flag}, or write CSV, Parquet or a table`,
    },
  );
}
