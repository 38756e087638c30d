import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { dirname, join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { realPath } from "../../core/files/real-path.js";
import { openFileDestination, streamDestination } from "../../outputs/file-destination.js";
import type { Publication } from "../../outputs/publication.js";
import { type SinkSettings } from "../../outputs/options.js";
import { outputFault } from "../../outputs/output-fault.js";
import { detectSinkFormat, formats } from "../../formats/registry.js";
import { textSink } from "../../outputs/text-sink.js";
import type { Destination, Sink, SinkPosition } from "../../outputs/types.js";
import type { Encoder, EncoderOptions, SourceFormat } from "../../formats/types.js";
import { refuseWithoutColumns } from "./refuse-without-columns.js";
import { findWarehouse, type Warehouse } from "../../outputs/registry.js";
import { chooseDataSet, refuseIdleOptions } from "./choose-data-set.js";
import {
  checkFolder,
  checkInputIsNot,
  checkInputIsSafe,
  checkOutputName,
  checkRejects,
  makeStateFolder,
  recordBase,
} from "./check-paths.js";
import { manifestPath } from "../../core/files/output-names.js";
import type { OutputTarget, TextOutputTarget, WarehouseOutputTarget } from "./output-target.js";

/** What names an output. */
export type OutputChoice = SinkSettings & { readonly stateDir?: string | undefined };

/**
 * Resolves `-o` to a file, a table or a stream, and checks that `--rejects` does not collide with it.
 *
 * @param inputFormat called only if neither `--to` nor the output's name tells the format
 * @throws UsageError `output_is_directory`, `output_folder_missing`, `output_is_input`; as
 *   `checkOutputName`, `chooseWarehouse` and `checkRejects`
 */
export async function chooseFile(
  settings: OutputChoice,
  inputFormat: () => Promise<SourceFormat>,
  inputPaths: readonly string[],
): Promise<OutputTarget> {
  const { output } = settings;
  if (settings.to === undefined) await checkOutputName(output);
  const warehouse = output === "-" ? null : findWarehouse(output);
  refuseIdleOptions(settings, warehouse);
  const target =
    warehouse === null
      ? await chooseTarget(output, settings, inputFormat, inputPaths)
      : warehouse.target.kind === "data set"
        ? await chooseDataSet(warehouse, settings, inputPaths)
        : await chooseWarehouse(warehouse, settings, inputPaths);
  refuseWithoutColumns(settings, target.format);
  refuseTableOptions(settings, target);
  const { rejects } = settings;
  if (rejects !== undefined) {
    const file = target.file ?? warehouse?.target.file ?? null;
    await checkRejects(rejects, { file, base: target.base }, inputPaths);
  }
  return target;
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

async function chooseTarget(
  output: string,
  settings: SinkSettings,
  inputFormat: () => Promise<SourceFormat>,
  inputPaths: readonly string[],
): Promise<TextOutputTarget> {
  const detected = output === "-" ? { format: null, gzip: false } : detectSinkFormat(output);
  if (settings.to === "parquet") {
    throw new UsageError("unknown_output", `--to parquet needs a file name that says so`, {
      hint: "name it OUT.parquet, or DIR/ for a data set",
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
  await checkInputIsSafe(output, file, inputPaths);
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
  if (appears) await checkInputIsSafe(display, file, inputPaths);
  else await checkInputIsNot(display, [file, manifestPath(base)], inputPaths);
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

export interface OpenSinkOptions {
  readonly encoder: EncoderOptions;
  /** Wraps the encoder of the output. */
  readonly wrapEncoder?: ((encoder: Encoder) => Encoder) | undefined;
  readonly stdout: Writable;
  /** Position of the interrupted run, or null. */
  readonly resume: SinkPosition | null;
}

/** Checks where a STIX bundle will be published, which rows are staged for. @throws ReputeError */
export async function openBundle(
  { file, gzip, name }: TextOutputTarget,
  { encoder, stdout, folder }: Pick<OpenSinkOptions, "encoder" | "stdout"> & { folder: string },
): Promise<Publication> {
  const { publishStix } = await import("../../outputs/publish/stix.js");
  const stream = file === null ? await openStream({ name }, stdout) : null;
  return publishStix({ file: file ?? join(folder, "bundle"), gzip, stream }, encoder);
}

/** Opens the sink for a target, truncated to the checkpoint when resuming. */
export async function openSink(target: TextOutputTarget, options: OpenSinkOptions): Promise<Sink> {
  const plain = formats[target.format].write(options.encoder);
  const encoder = options.wrapEncoder?.(plain) ?? plain;
  const { resume } = options;
  const destination =
    target.file === null
      ? await openStream(target, options.stdout)
      : await openFileDestination(target.file, resume);
  return textSink(encoder, destination, { gzip: target.gzip, resumeRows: resume?.rows ?? null });
}

/** Opens stdout, a device or a named pipe. */
export async function openStream(
  { name }: Pick<TextOutputTarget, "name">,
  stdout: Writable,
): Promise<Destination> {
  return streamDestination(name === "stdout" ? stdout : await openDevice(name), name);
}

async function openDevice(path: string): Promise<Writable> {
  const stream = createWriteStream(path);
  await new Promise<void>((resolve, reject) => {
    stream.once("open", () => resolve());
    stream.once("error", (error) => reject(outputFault(path, error)));
  });
  return stream;
}
