import { stat } from "node:fs/promises";
import { basename, dirname, extname } from "node:path";
import { UsageError } from "../../core/errors.js";
import { makeFolder, realPath } from "../../core/files/folders.js";
import { partPath } from "./part-file.js";
import { outputFault } from "../../core/files/output-fault.js";
import { didYouMean } from "../../core/wording/did-you-mean.js";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../s3/address.js";
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

/** A path or the address of an object in its only spelling. */
export function onlySpelling(path: string): string {
  return isObjectAddress(path) ? objectAddress(parseObjectAddress(path, true)) : realPath(path);
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
  const { given, format, file, object } = output;
  refuseFailedName(given);
  const extension = extname(basename(given).replace(/\.gz$/i, ""));
  if (format !== null || file === null || extension.length < 2) return;
  if (await isDevice(object === null ? given : file)) return;
  const hint =
    "name it .csv, .tsv or .ndjson (.gz compresses), .parquet, duckdb:FILE?table=NAME or postgres://…?table=NAME, or keep the name and set the format with --to";
  const meant = didYouMean(extension, [".csv", ".tsv", ".ndjson", ".parquet"]);
  const near = meant === null ? "" : ` (did you mean ${meant}?)`;
  const message = `cannot write ${given}: ${extension} is not an output format${near}`;
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
