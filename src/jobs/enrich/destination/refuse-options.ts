import { UsageError } from "../../../core/errors.js";
import { formats } from "../../../io/formats/registry.js";
import { sinkFormats } from "../../../io/formats/types.js";
import type { SinkSettings } from "../../../io/output/options.js";
import type { OutputTarget } from "./output-target.js";

/**
 * Refuses options that would have no effect.
 *
 * @throws UsageError `es_option_unused`
 */
export function refuseIdleOptions({ to, esAction, esId }: SinkSettings): void {
  const bulk = Object.entries({ "--es-action": esAction, "--es-id": esId });
  const [idle] = to === "es-bulk" ? [] : bulk.filter(([, value]) => value !== undefined);
  if (idle === undefined) return;
  throw new UsageError("es_option_unused", `${idle[0]} applies only to --to es-bulk`, {
    hint: `add --to es-bulk, or leave out ${idle[0]}`,
  });
}

/** @throws UsageError `mode_needs_table`, `key_needs_merge` */
export function refuseTableOptions(
  { mode, key }: Pick<SinkSettings, "mode" | "key">,
  { name, warehouse }: OutputTarget,
): void {
  if (key !== undefined && mode !== "merge") {
    throw new UsageError("key_needs_merge", "--key applies only to --mode merge", {
      hint: "add --mode merge, or leave out --key",
    });
  }
  if (mode === "append" || (warehouse?.rows ?? null) !== null) return;
  throw new UsageError("mode_needs_table", `--mode ${mode} needs a table, and ${name} is none`, {
    hint: "write to duckdb:FILE?table=NAME or postgres://…?table=NAME, or leave out --mode",
  });
}

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
