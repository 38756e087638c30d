import { stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { UsageError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { realPath } from "../../core/files/real-path.js";
import { partPath } from "./part-file.js";
import { outputFault } from "./output-fault.js";
import { didYouMean } from "../../core/text/did-you-mean.js";
import { detectSinkFormat } from "../formats/registry.js";
import { localPath } from "./object-files.js";
import { findWarehouse } from "./registry.js";
import type { WarehouseTarget } from "./warehouse/target.js";
import { hash } from "node:crypto";
import { userStateFolder } from "../../core/files/user-folders.js";
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
export function refuseFolder(output: string): void {
  if (!output.endsWith("/")) return;
  throw new UsageError("output_is_directory", `the output ${output} is a folder`, {
    hint: `name a file in it, such as ${output}{date}.csv`,
  });
}

/**
 * Refuses an output whose extension names a format that repute cannot write. Names without an
 * extension, devices and named pipes accept any format. Not needed if `--to` names the format.
 *
 * @throws UsageError `unknown_output`; as `findWarehouse`
 */
export async function checkOutputName(output: string): Promise<void> {
  if (output === "-") return;
  refuseFailedName(output);
  const isKnown = findWarehouse(output) !== null || detectSinkFormat(output).format !== null;
  const extension = extensionOf(output);
  if (isKnown || extension === null || (await isDevice(output))) return;
  const hint =
    "name it .csv, .tsv or .ndjson (.gz compresses), .parquet, duckdb:FILE?table=NAME or postgres://…?table=NAME, or keep the name and set the format with --to";
  throw unknown(output, extension, [".csv", ".tsv", ".ndjson", ".parquet"], hint);
}

function unknown(
  path: string,
  extension: string,
  known: readonly string[],
  hint: string,
): UsageError {
  const meant = didYouMean(extension, known);
  const near = meant === null ? "" : ` (did you mean ${meant}?)`;
  const message = `cannot write ${path}: ${extension} is not an output format${near}`;
  return new UsageError("unknown_output", message, { hint });
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

/** The extension, with its dot and without `.gz`; null if there is none. */
function extensionOf(path: string): string | null {
  const extension = extname(basename(path).replace(/\.gz$/i, ""));
  return extension === "" || extension === "." ? null : extension;
}

async function isDevice(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => null);
  return facts !== null && !facts.isFile() && !facts.isDirectory();
}

/**
 * Path from which the names of a run's files derive (`BASE.state/`, `BASE.manifest.json`): for a
 * file, its own path with symbolic links resolved.
 *
 * @throws UsageError as `findWarehouse`
 */
export function outputBase(output: string, stateDir?: string): string {
  const warehouse = findWarehouse(output);
  if (warehouse !== null) return recordBase(warehouse.target, stateDir);
  return realPath(localPath(output));
}

/**
 * The same for a warehouse. A table has no file of its own to keep them beside: they are in the state
 * folder, for DuckDB beside the database unless `stateDir` says otherwise.
 *
 * @param stateDir the folder of `--state-dir`
 */
export function recordBase({ kind, base, file }: WarehouseTarget, stateDir?: string): string {
  if (kind !== "postgres" && kind !== "duckdb") return base;
  const name = basename(base);
  if (stateDir !== undefined) {
    // Databases of the same name in different folders stay apart.
    const place = file === null ? "" : `-${hash("sha256", dirname(base)).slice(0, 8)}`;
    return join(resolve(stateDir), name + place);
  }
  if (file !== null) return base;
  const folder = userStateFolder(process.env);
  return folder === null ? base : join(folder, name);
}

/** Creates the folder of a run's state. @throws FatalError `output_*` */
export function makeStateFolder(path: string): void {
  try {
    makeFolder(path, 0o700);
  } catch (error) {
    throw outputFault(path, error);
  }
}
