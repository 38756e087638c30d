import { basename } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { jsonFileFault } from "../../core/files/json-file.js";
import { dataSetManifest } from "../../core/files/output-names.js";

interface DataSetRecord {
  readonly output?: { readonly format?: unknown; readonly parts?: unknown };
}

/** Formats whose parts can be read as input: one record per row. */
const readable: ReadonlySet<unknown> = new Set(["csv", "tsv", "ndjson", "parquet"]);

/**
 * The files of the data set in a folder, in order, as its manifest names them; null if the folder
 * holds none.
 *
 * @param folder with a trailing slash
 * @param names what is in the folder
 * @param read reads the JSON of a file
 * @throws UsageError `manifest_unreadable`, `data_set_format`; FatalError `output_corrupt` if a file is missing
 */
export async function listDataSet(
  folder: string,
  names: readonly string[],
  read: (path: string) => Promise<unknown>,
): Promise<readonly string[] | null> {
  if (!names.includes(dataSetManifest)) return null;
  const path = folder + dataSetManifest;
  const record = (await read(path).catch((error: unknown) => {
    if (error instanceof FatalError) throw error;
    throw new UsageError("manifest_unreadable", `cannot read ${path}: ${jsonFileFault(error)}`, {
      cause: error,
      hint: "restore it from a copy",
    });
  })) as DataSetRecord | null;
  const { format, parts } = record?.output ?? {};
  if (!Array.isArray(parts)) return null;
  if (!readable.has(format)) {
    throw new UsageError(
      "data_set_format",
      `the files of ${folder} are ${String(format)}, which repute cannot read`,
      {
        hint: "name the input that they were made from",
      },
    );
  }
  return (parts as readonly { readonly name?: unknown }[]).map(({ name }) => {
    const file = basename(String(name));
    if (names.includes(file)) return file;
    throw new FatalError("output_corrupt", `${folder}${file} is missing: ${path} names it`, {
      hint: "restore it from a copy",
    });
  });
}
