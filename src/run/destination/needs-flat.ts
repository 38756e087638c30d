import { UsageError } from "../../core/errors.js";
import { sinkFormats } from "../../formats/types.js";
import type { SinkSettings } from "../../outputs/options.js";

/** Text formats with a place for each column. Outputs that are not text have one. */
const flat: readonly string[] = ["csv", "tsv"];

/**
 * Refuses `--columns` for rows that hold answers as received, or the fields of another schema.
 *
 * @param format of the rows
 * @throws UsageError `columns_need_flat`
 */
export function refuseNestedColumns(
  { columns, shape }: Pick<SinkSettings, "columns" | "shape">,
  format: string,
): void {
  const isText = (sinkFormats as readonly string[]).includes(format);
  if (columns === undefined || !isText || flat.includes(format)) return;
  if (format === "ndjson" && shape === "flat") return;
  const message =
    format === "ndjson"
      ? "--columns chooses columns, and nested NDJSON holds the answers as received"
      : `--columns chooses columns, and ${format} has the fields of its own schema`;
  const hint =
    format === "ndjson"
      ? "add --shape flat, or leave out --columns"
      : "leave out --columns, or write CSV, flat NDJSON, Parquet or a table";
  throw new UsageError("columns_need_flat", message, { hint });
}
