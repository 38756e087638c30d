import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { UsageError } from "../../core/errors.js";
import { makeFolder, realPath } from "../../core/files/folders.js";
import { partPath } from "./part-file.js";
import { outputFault } from "../../core/files/output-fault.js";
import { didYouMean } from "../../core/wording/did-you-mean.js";
import type { Output } from "./output.js";
import { failedSuffix, manifestPath } from "../../core/files/output-names.js";

/**
 * Checks that a file can be created at a path.
 *
 * @param file the path as resolved by `realPath`
 * @throws UsageError `output_folder_missing`
 */
export async function checkFolder(file: string): Promise<void> {
  const folder = await stat(dirname(file)).catch(() => null);
  if (folder?.isDirectory()) return;
  throw new UsageError("output_folder_missing", `the folder ${dirname(file)} does not exist`, {
    hint: "create it first",
  });
}

/**
 * Checks that no file that a run writes is one of its inputs.
 *
 * @param output name for the message
 * @throws UsageError `output_is_input`
 */
export function keepInputs(
  output: string,
  files: readonly (string | null)[],
  inputs: readonly string[],
): void {
  const input = inputs.find((path) => files.includes(realPath(path)));
  if (input === undefined) return;
  throw new UsageError(
    "output_is_input",
    `the output ${output} would overwrite the input ${input}`,
    {
      hint: "write to another file, or rename the input",
    },
  );
}

/** The files of an output that appears by rename. */
export function filesOf(file: string): readonly string[] {
  return [file, partPath(file), manifestPath(file)];
}

/** Refuses the name of a folder as an output. @throws UsageError `output_is_directory` */
export function refuseFolder({ given }: Output): void {
  if (!given.endsWith("/")) return;
  throw new UsageError("output_is_directory", `the output ${given} is a folder`, {
    hint: `name a file in it, such as ${given}{date}.csv`,
  });
}

/**
 * Refuses an output whose extension names a format that repute cannot write. Names without an
 * extension, devices and named pipes accept any format. Not needed if `--to` names the format.
 *
 * @throws UsageError `unknown_output`
 */
export async function checkOutputName(output: Output): Promise<void> {
  const { given, file, object, unknownExtension } = output;
  refuseFailedName(given);
  if (
    unknownExtension === null ||
    file === null ||
    (await isDevice(object === null ? given : file))
  )
    return;
  const hint =
    "name it .csv, .tsv or .ndjson (.gz compresses), .parquet, duckdb:FILE?table=NAME or postgres://…?table=NAME, or keep the name and set the format with --to";
  const meant = didYouMean(unknownExtension, [".csv", ".tsv", ".ndjson", ".parquet"]);
  const near = meant === null ? "" : ` (did you mean ${meant}?)`;
  const message = `cannot write ${given}: ${unknownExtension} is not an output format${near}`;
  throw new UsageError("unknown_output", message, { hint });
}

/** Refuses the suffix of files with too many failures, because later runs remove them. */
function refuseFailedName(path: string): void {
  if (!path.endsWith(failedSuffix)) return;
  throw new UsageError(
    "unknown_output",
    `${path} ends in ${failedSuffix}, which is reserved for runs with too many failures`,
    { hint: `choose a name that does not end in ${failedSuffix}` },
  );
}

async function isDevice(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => null);
  return facts !== null && !facts.isFile() && !facts.isDirectory();
}

/** Creates the folder of a run's state. @throws FatalError `output_*` */
export function makeStateFolder(path: string): void {
  try {
    makeFolder(path, 0o700);
  } catch (error) {
    throw outputFault(path, error);
  }
}
