import { stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import { failedSuffix } from "../../core/files/failed-name.js";
import { detectSinkFormat } from "../../formats/registry.js";
import { findWarehouse } from "../../outputs/warehouse/registry.js";
import { addressScheme } from "../../outputs/warehouse/target.js";

/**
 * Refuses an output whose name asks for a format that cannot be written. Names without an extension,
 * devices and named pipes take any format. Not needed where `--to` names the format.
 *
 * @throws UsageError `unknown_output`; as `findWarehouse`
 */
export async function checkOutputName(output: string): Promise<void> {
  if (output === "-") return;
  refuseFailedName(output);
  if (output.endsWith("/")) {
    const message = `cannot write ${output}: the name of a file is missing`;
    throw new UsageError("unknown_output", message, { hint: "name a file, such as out.csv" });
  }
  const isKnown = findWarehouse(output) !== null || detectSinkFormat(output).format !== null;
  const extension = extensionOf(output);
  if (isKnown || extension === null || (await isDevice(output))) return;
  const hint =
    "name it .csv, .tsv or .ndjson (.gz compresses), .parquet, duckdb:FILE?table=NAME or postgres://…?table=NAME, or keep the name and give its format with --to";
  throw unknown(output, extension, [".csv", ".tsv", ".ndjson", ".parquet"], hint);
}

/**
 * Refuses a file of rejected rows with such a name: they have the form of the input.
 *
 * @throws UsageError `unknown_output`
 */
export function checkRejectsName(rejects: string): void {
  refuseFailedName(rejects);
  const hint =
    "rejected rows are text in the form of the input: name it .csv, .tsv, .ndjson or .txt";
  const scheme = addressScheme(rejects);
  if (scheme !== null) {
    const message = `rejected rows cannot be written to ${scheme}: addresses`;
    throw new UsageError("unknown_output", message, { hint });
  }
  const extension = extensionOf(rejects);
  const isText = extension === null || listNames.test(extension);
  if (isText || detectSinkFormat(rejects).format !== null) return;
  throw unknown(rejects, extension, [".csv", ".tsv", ".ndjson", ".txt"], hint);
}

/** What lists of one item per line are called. */
const listNames = /^\.(?:txt|text|list|lst|iocs?|ipset|netset)$/i;

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

/** Runs give this ending to rows of their own, and remove them later. */
function refuseFailedName(path: string): void {
  if (!path.endsWith(failedSuffix)) return;
  throw new UsageError(
    "unknown_output",
    `${path} is the name for rows of a run with too many failures`,
    { hint: `choose a name that does not end in ${failedSuffix}` },
  );
}

/** The extension in front of `.gz`, with its dot; null where there is none. */
function extensionOf(path: string): string | null {
  const extension = extname(basename(path).replace(/\.gz$/i, ""));
  return extension === "" || extension === "." ? null : extension;
}

async function isDevice(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => null);
  return facts !== null && !facts.isFile() && !facts.isDirectory();
}
