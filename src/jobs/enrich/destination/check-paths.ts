import { stat } from "node:fs/promises";
import { basename, dirname, extname } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { realPath } from "../../../core/files/folders.js";
import { partPath } from "../../../io/output/part-file.js";
import { didYouMean } from "../../../core/wording/did-you-mean.js";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../../../io/s3/address.js";
import type { Output } from "../../../io/output/output.js";
import { failedSuffix, manifestPath } from "../../../core/files/output-names.js";

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
 * Checks that nothing that an output writes is one of the inputs.
 *
 * @throws UsageError `output_is_input`
 */
export function keepInputs(
  { name, file, database, object, base }: Output,
  inputs: readonly string[],
  stateDir?: string,
): void {
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
