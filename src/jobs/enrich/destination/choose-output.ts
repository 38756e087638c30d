import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { v7 as timeOrderedId } from "uuid";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../../../io/s3/address.js";
import { raceAbort } from "../../../core/abort.js";
import { systemClock } from "../../../core/clock.js";
import { UsageError } from "../../../core/errors.js";
import { makeFolder, realPath } from "../../../core/files/folders.js";
import { outputFault } from "../../../core/files/system-fault.js";
import {
  checkRunWords,
  failedSuffix,
  hasRunWords,
  manifestPath,
  namedAfter,
  type RunStart,
} from "../../../core/files/output-names.js";
import { fileInputs } from "../../../io/input/types.js";
import { formats } from "../../../io/formats/registry.js";
import { type SinkFormat, type SourceFormat, sinkFormats } from "../../../io/formats/types.js";
import type { Output } from "../../../io/output/output.js";
import { didYouMean } from "../../../core/wording/did-you-mean.js";
import { partPath } from "../../../io/output/part-file.js";
import type { OutputSettings } from "../options.js";
import type { Job } from "../types.js";
import type { PublisherOptions } from "../../../io/output/publisher.js";
import type { ObjectUpload } from "../../../io/output/object/publish.js";

/**
 * Creates the folders with `{date}` or `{run_id}` in the path of a file.
 *
 * @returns those that were not there
 * @throws UsageError `output_folder_missing` if the first of them has no parent; FatalError
 */
export async function makeFolders(file: string, run: RunStart): Promise<readonly string[]> {
  const steps = dirname(file).split("/");
  const first = steps.findIndex(hasRunWords);
  if (first < 0) return [];
  const made: string[] = [];
  for (let depth = first + 1; depth <= steps.length; depth++) {
    const folder = resolve(namedAfter(steps.slice(0, depth).join("/"), run));
    if (depth === first + 1) await checkFolder(folder);
    await mkdir(folder).then(
      () => made.push(folder),
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw outputFault(folder, error);
      },
    );
  }
  return made;
}

/**
 * Chooses the output of a job, and returns both. Names it after its run, where its name has `{date}` or `{run_id}`.
 *
 * @param made receives the folders that are created because they are named so
 * @param run the interrupted one. @default one that starts now
 * @throws as `chooseOutput`; UsageError `run_word`
 */
export async function chooseRun(given: Job, made: string[], run?: RunStart) {
  const job = await namedJob(given, made, run);
  const { settings, signal } = job;
  const inputFormat = () => raceAbort(job.rows.inputFormat(), signal);
  const target = await raceAbort(
    chooseOutput({ ...settings.output, ...settings.run }, inputFormat, inputFiles(job)),
    signal,
    (late) => late.upload?.cleanEmpty(),
  );
  return { job, target };
}

async function namedJob(job: Job, made: string[], run?: RunStart): Promise<Job> {
  const { output } = job.settings.output;
  checkRunWords("-o", output.parts);
  if (!hasRunWords(output.parts.file)) return job;
  const { clock = systemClock } = job;
  const { runId = timeOrderedId(), startedAt = new Date(clock.now()).toISOString() } = run ?? {
    runId: job.runId,
  };
  const start = { runId, startedAt };
  if (output.object === null) made.push(...(await makeFolders(output.parts.file, start)));
  const named = { ...job.settings.output, output: output.named(start) };
  return { ...job, ...start, settings: { ...job.settings, output: named } };
}

/**
 * The files that the output must not replace. Reading a database file ends
 * before it is written, so the output may be another of its tables.
 */
function inputFiles({ input, settings, refill }: Job): readonly string[] {
  if (refill?.inPlace === true) return [];
  const { isTable } = settings.output.output;
  return fileInputs(input).flatMap(({ path, table }) => {
    if (table === undefined || isObjectAddress(path)) return path;
    return table.file === null || (table.isTable && isTable) ? [] : table.file;
  });
}

/** The output of a run, as it is found when the run begins. */
export interface OutputTarget extends Pick<PublisherOptions, "file" | "base"> {
  readonly output: Output;
  readonly format: string;
  /** The format, if it is one of text; null for typed columns. */
  readonly text: SinkFormat | null;
  /** Of an object, which is uploaded from a file. */
  readonly upload?: ObjectUpload;
}

type OutputChoice = OutputSettings & { readonly stateDir?: string | undefined };

/**
 * Finds out which file, table, object or stream a run writes, and checks as far as possible that it can.
 *
 * @param inputFormat called only if neither `--to` nor the output's name tells the format
 * @throws UsageError `output_is_directory`, `output_no_file`; as the checks that it calls
 */
export async function chooseOutput(
  settings: OutputChoice,
  inputFormat: () => Promise<SourceFormat>,
  inputPaths: readonly string[],
): Promise<OutputTarget> {
  const { output, to, stateDir } = settings;
  const { name, file, database, object, isStdout } = output;
  await checkOutputName(output, to);
  const text = output.isText ? await textFormat(settings, inputFormat) : null;
  refuseIdleOptions(settings, text);
  const format = text ?? output.format ?? "";
  const stream = { output, file: null, base: null, format, text };
  if (isStdout) return stream;
  const held = object === null ? (file ?? database) : null;
  if (held !== null) {
    // The pipe behind /dev/stdout has no path of its own.
    const facts = await stat(file === null ? held : name).catch(() => null);
    const isFolder = facts?.isDirectory() === true;
    if (facts !== null && !facts.isFile()) {
      if (text !== null && !isFolder) return stream;
      const code = isFolder ? "output_is_directory" : "output_no_file";
      const what = isFolder ? "is a directory" : "is not a regular file";
      throw new UsageError(code, `the output ${name} ${what}`, { hint: "name a file" });
    }
    await checkFolder(held);
  }
  keepInputs(output, inputPaths, stateDir);
  const base = output.base(stateDir);
  try {
    if (file === null) makeFolder(dirname(base), 0o700);
  } catch (error) {
    throw outputFault(dirname(base), error);
  }
  const target = { ...stream, file, base };
  if (object === null) return target;
  const { openUpload } = await import("../../../io/output/object/publish.js");
  return { ...target, upload: await openUpload(object) };
}

/** The format of an output of text. */
async function textFormat({ output, to }: OutputChoice, inputFormat: () => Promise<SourceFormat>) {
  const named = sinkFormats.find((known) => known === (to ?? output.format));
  return named ?? ((await inputFormat()) === "ndjson" ? "ndjson" : "csv");
}

/** Refuses options without effect. @param text format of the rows; null for typed columns */
function refuseIdleOptions(settings: OutputChoice, text: SinkFormat | null): void {
  const { output, to, shape, raw, columns, esAction, esId, table } = settings;
  const isBulk = to === "es-bulk";
  const isTyped = text === null;
  const isNested = text === "ndjson" && shape !== "flat";
  const isFlat = isTyped || (!isNested && formats[text].records !== undefined);
  const flatRows = "flat rows: CSV, TSV, NDJSON with --shape flat, Parquet and tables";
  const options: readonly (readonly [flag: string, isIdle: boolean, where: string])[] = [
    ["--es-action", esAction !== undefined && !isBulk, "--to es-bulk"],
    ["--es-id", esId !== undefined && !isBulk, "--to es-bulk"],
    ["--to parquet", to === "parquet" && !isTyped, "a file that is named OUT.parquet"],
    ["--to", to !== undefined && isTyped && to !== output.format, "text files"],
    ["--shape nested", shape === "nested" && isTyped, "text files"],
    ["--raw", raw && !isFlat, `${flatRows}; nested NDJSON has the results as received already`],
    ["--columns", columns !== undefined && !isFlat, flatRows],
    ["--key", table.key !== undefined && table.mode !== "merge", "--mode merge"],
    [`--mode ${table.mode}`, table.mode !== "append" && !output.isTable, "tables"],
  ];
  const [flag, , where] = options.find(([, isIdle]) => isIdle) ?? [];
  if (flag === undefined) return;
  const message = `${flag} has no effect on ${output.name}: it is for ${where}`;
  throw new UsageError("option_unused", message, { hint: `leave it out, or use ${where}` });
}

/**
 * Checks that a file can be created at a path.
 *
 * @param file the path as resolved by `realPath`
 * @throws UsageError `output_folder_missing`
 */
export async function checkFolder(file: string): Promise<void> {
  // A run creates the folders that are named after it.
  const steps = file.split("/");
  const own = steps.findIndex(hasRunWords);
  const folder = dirname(own < 0 ? file : steps.slice(0, own + 1).join("/"));
  if ((await stat(folder).catch(() => null))?.isDirectory()) return;
  throw new UsageError("output_folder_missing", `the folder ${folder} does not exist`, {
    hint: "create it first",
  });
}

/** Checks that nothing that an output writes is one of the inputs. */
function keepInputs(output: Output, inputs: readonly string[], stateDir?: string): void {
  const { name, file, database, object, base } = output;
  const main = object === null ? file : onlySpelling(object.address);
  // Files appear by rename; databases are written in place.
  const written =
    main === null
      ? [database, manifestPath(base(stateDir))]
      : [main, partPath(main), manifestPath(main)];
  const input = inputs.find((path) => written.includes(onlySpelling(path)));
  if (input === undefined) return;
  const message = `the output ${name} would overwrite the input ${input}`;
  throw new UsageError("output_is_input", message, {
    hint: "choose another name for the output, or rename the input",
  });
}

/**
 * Checks, before the inputs are read, that the output can be written and is none of them.
 *
 * @throws UsageError `unknown_output`, `output_is_input`, `output_folder_missing`
 */
export async function checkOutput(output: Output, inputs: readonly string[]): Promise<void> {
  const { name, file, object, isStdout } = output;
  if (isStdout) return;
  if (file === null) {
    throw new UsageError("unknown_output", `${name} is not a text file`, {
      hint: "name a file or an s3:// object",
    });
  }
  if (object === null) await checkFolder(file);
  keepInputs(output, inputs);
}

/** A path or the address of an object in its only spelling. */
export function onlySpelling(path: string): string {
  return isObjectAddress(path) ? objectAddress(parseObjectAddress(path, true)) : realPath(path);
}

/**
 * Refuses the name of a folder, and a name whose extension is that of a format that repute cannot write.
 * Names without an extension, devices and named pipes accept any format.
 *
 * @param to the format, if it does not follow from the name
 * @throws UsageError `output_is_directory`, `unknown_output`
 */
export async function checkOutputName(output: Output, to?: string): Promise<void> {
  const { given, format, file, object } = output;
  if (given.endsWith("/")) {
    throw new UsageError("output_is_directory", `the output ${given} is a folder`, {
      hint: `name a file in it, such as ${given}{date}.csv`,
    });
  }
  if (to !== undefined) return;
  if (given.endsWith(failedSuffix)) {
    // Later runs remove them.
    const what = "which is reserved for runs with too many failures";
    throw new UsageError("unknown_output", `${given} ends in ${failedSuffix}, ${what}`, {
      hint: `choose a name that does not end in ${failedSuffix}`,
    });
  }
  const extension = extname(basename(given).replace(/\.gz$/i, ""));
  if (format !== null || file === null || extension.length < 2) return;
  const facts = await stat(object === null ? given : file).catch(() => null);
  if (facts !== null && !facts.isFile() && !facts.isDirectory()) return;
  const hint =
    "name it .csv, .tsv or .ndjson (.gz compresses), .parquet, duckdb:FILE?table=NAME or postgres://…?table=NAME, or keep the name and set the format with --to";
  const meant = didYouMean(extension, [".csv", ".tsv", ".ndjson", ".parquet"]);
  const near = meant === null ? "" : ` (did you mean ${meant}?)`;
  const message = `cannot write ${given}: ${extension} is not an output format${near}`;
  throw new UsageError("unknown_output", message, { hint });
}
