import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { manifestPath } from "../../../core/files/output-names.js";
import { realPath } from "../../../core/files/real-path.js";
import { detectSinkFormat, formats } from "../../../io/formats/registry.js";
import { type SourceFormat, sinkFormats } from "../../../io/formats/types.js";
import type { SinkSettings } from "../../../io/output/options.js";
import { findWarehouse, type Warehouse } from "../../../io/output/registry.js";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../../../io/object/address.js";
import {
  checkFolder,
  filesOf,
  keepInputs,
  checkOutputName,
  makeStateFolder,
  recordBase,
  refuseFolder,
} from "../../../io/output/check-paths.js";
import {
  localSettings,
  type OutputTarget,
  type TextOutputTarget,
  type WarehouseOutputTarget,
} from "./output-target.js";

type OutputChoice = SinkSettings & { readonly stateDir?: string | undefined };

/**
 * Resolves `-o` to a target. That of an object has its local file.
 *
 * @param inputFormat called only if neither `--to` nor the output's name tells the format
 * @param pattern the name with the words that stand for a run
 * @throws UsageError `output_is_input`; as `chooseFile` and `openUpload`
 */
export async function chooseOutput(
  settings: OutputChoice,
  inputFormat: () => Promise<SourceFormat>,
  inputPaths: readonly string[],
  pattern = settings.output,
): Promise<OutputTarget> {
  const { output } = settings;
  refuseFolder(output);
  if (!isObjectAddress(output)) return chooseFile(settings, inputFormat, inputPaths);
  const { openUpload } = await import("../../../io/output/publish/object.js");
  refuseInput(output, inputPaths);
  const upload = await openUpload(output, pattern);
  try {
    const local = localSettings(settings, { upload });
    const target = await chooseFile(local, inputFormat, inputPaths);
    return { ...target, name: output, upload };
  } catch (error) {
    upload.cleanEmpty();
    throw error;
  }
}

/** Refuses an object that is also read, or whose manifest is. @throws UsageError `output_is_input` */
function refuseInput(given: string, inputs: readonly string[]): void {
  const address = plainAddress(given);
  const input = inputs.find((each) => {
    if (!isObjectAddress(each)) return false;
    return [address, manifestPath(address)].includes(plainAddress(each));
  });
  if (input === undefined) return;
  throw new UsageError("output_is_input", `writing ${given} would replace the input ${input}`, {
    hint: "write to another object",
  });
}

/** An address in its only spelling. */
function plainAddress(address: string): string {
  return objectAddress(parseObjectAddress(address));
}

/**
 * Resolves `-o` to a file, a table or a stream.
 *
 * @param inputFormat called only if neither `--to` nor the output's name tells the format
 * @throws UsageError `output_is_directory`, `output_folder_missing`, `output_is_input`; as
 *   `checkOutputName` and `chooseWarehouse`
 */
async function chooseFile(
  settings: OutputChoice,
  inputFormat: () => Promise<SourceFormat>,
  inputPaths: readonly string[],
): Promise<OutputTarget> {
  const { output } = settings;
  if (settings.to === undefined) await checkOutputName(output);
  const warehouse = output === "-" ? null : findWarehouse(output);
  refuseIdleOptions(settings);
  const target =
    warehouse === null
      ? await chooseTarget(output, settings, inputFormat, inputPaths)
      : await chooseWarehouse(warehouse, settings, inputPaths);
  refuseWithoutColumns(settings, target.format);
  refuseTableOptions(settings, target);
  return target;
}

async function chooseTarget(
  output: string,
  settings: SinkSettings,
  inputFormat: () => Promise<SourceFormat>,
  inputPaths: readonly string[],
): Promise<TextOutputTarget> {
  const detected = output === "-" ? { format: null, gzip: false } : detectSinkFormat(output);
  if (settings.to === "parquet") {
    throw new UsageError("unknown_output", `--to parquet needs a file name that says so`, {
      hint: "name it OUT.parquet",
    });
  }
  const named = settings.to ?? detected.format;
  const format = named ?? ((await inputFormat()) === "ndjson" ? "ndjson" : "csv");
  const stream = { file: null, base: null, format, warehouse: null };
  if (output === "-") return { ...stream, name: "stdout", gzip: false };

  const facts = await stat(output).catch(() => null);
  if (facts?.isDirectory()) {
    throw new UsageError("output_is_directory", `the output ${output} is a directory`, {
      hint: "name a file",
    });
  }
  if (facts !== null && !facts.isFile()) {
    return { ...stream, name: output, gzip: detected.gzip };
  }
  const file = realPath(output);
  await checkFolder(file);
  keepInputs(output, filesOf(file), inputPaths);
  return { file, base: file, name: output, format, gzip: detected.gzip, warehouse: null };
}

/**
 * Checks, as far as possible before opening it, that a warehouse can be written.
 *
 * @throws UsageError `text_option`, `output_is_directory`, `output_no_file`,
 *   `output_folder_missing`, `output_is_input`
 */
async function chooseWarehouse(
  warehouse: Warehouse,
  settings: Pick<SinkSettings, "to" | "shape"> & { readonly stateDir?: string | undefined },
  inputPaths: readonly string[],
): Promise<WarehouseOutputTarget> {
  const { kind, display, file } = warehouse.target;
  const base = recordBase(warehouse.target, settings.stateDir);
  refuseTextOptions(display, settings);
  if (file !== null) {
    const facts = await stat(file).catch(() => null);
    if (facts !== null && !facts.isFile()) {
      const what = facts.isDirectory() ? "is a directory" : "is not a regular file";
      const code = facts.isDirectory() ? "output_is_directory" : "output_no_file";
      throw new UsageError(code, `the output ${display} ${what}`, { hint: "name a file" });
    }
    await checkFolder(file);
  }
  // Parquet files appear by rename; databases are written in place.
  const appears = file !== null && file === base;
  keepInputs(display, appears ? filesOf(file) : [file, manifestPath(base)], inputPaths);
  if (base !== warehouse.target.base) makeStateFolder(dirname(base));
  return {
    file: appears ? file : null,
    name: display,
    base,
    format: kind,
    gzip: false,
    warehouse,
  };
}

function refuseTextOptions(
  display: string,
  { to, shape }: Pick<SinkSettings, "to" | "shape">,
): void {
  if (to === "parquet" && display.toLowerCase().endsWith(".parquet")) return;
  const given = to !== undefined ? `--to ${to}` : shape === "nested" ? "--shape nested" : null;
  if (given === null) return;
  throw new UsageError(
    "text_option",
    `${given} applies only to text files, and ${display} has typed columns`,
    {
      hint: `leave out ${given.split(" ", 1)[0]}, or name another output`,
    },
  );
}

/**
 * Refuses options that would have no effect.
 *
 * @throws UsageError `es_option_unused`
 */
function refuseIdleOptions({ to, esAction, esId }: SinkSettings): void {
  const bulk = Object.entries({ "--es-action": esAction, "--es-id": esId });
  const [idle] = to === "es-bulk" ? [] : bulk.filter(([, value]) => value !== undefined);
  if (idle === undefined) return;
  throw new UsageError("es_option_unused", `${idle[0]} applies only to --to es-bulk`, {
    hint: `add --to es-bulk, or leave out ${idle[0]}`,
  });
}

/** @throws UsageError `mode_needs_table`, `key_needs_merge` */
function refuseTableOptions(
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
function refuseWithoutColumns(
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
