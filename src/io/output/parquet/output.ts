import { UsageError } from "../../../core/errors.js";
import { fileParts, sharedPath, withoutFailed } from "../../../core/files/output-names.js";
import { realPath } from "../../../core/files/folders.js";
import type { KindOutput } from "../output.js";
import { parquetRules } from "./rules.js";

/** A Parquet file. @throws UsageError `parquet_gzip` */
export function parquetOutput(name: string): KindOutput | null {
  // An address is another kind; a single letter is a Windows drive.
  if (/^[a-z][a-z0-9+.-]+:/i.test(name)) return null;
  const plain = withoutFailed(name).toLowerCase();
  if (plain.endsWith(".parquet.gz")) {
    throw new UsageError("parquet_gzip", `${name}: Parquet files are already compressed`, {
      hint: "remove .gz from the name",
    });
  }
  if (!plain.endsWith(".parquet")) return null;
  const file = realPath(name);
  return {
    name,
    format: "parquet",
    rules: parquetRules,
    file,
    parts: fileParts(name),
    base: () => realPath(sharedPath(name)),
    publisher: async (options) => (await import("./publish.js")).parquetPublisher(file, options),
  };
}
