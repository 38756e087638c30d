import { statSync } from "node:fs";
import { UsageError } from "../../../core/errors.js";
import { withoutFailed } from "../../../core/files/output-names.js";
import type { FoundManifest } from "../../../core/manifest/found-manifest.js";
import { detectSinkFormat } from "../../formats/registry.js";
import { sinkFormats } from "../../formats/types.js";
import { findWarehouse } from "../registry.js";
import type { FileFormat } from "../types.js";

export interface OutputFile {
  readonly path: string;
  readonly format: FileFormat;
  readonly gzip: boolean;
}

/**
 * Tells how the file of an output is written.
 *
 * @param manifest beside it, or null
 * @param to the format, where neither the manifest nor the name tells it
 */
export function outputFile(
  path: string,
  manifest: FoundManifest | null,
  to?: FileFormat,
): OutputFile {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts?.isFIFO() || facts?.isCharacterDevice()) {
    throw new UsageError("not_an_output", `${path} is not a regular file`, {
      hint: "an output is read more than once: write it to a file first",
    });
  }
  const name = manifest?.output?.format;
  const noted = [...sinkFormats, "parquet" as const].find((known) => known === name);
  const detected = detectSinkFormat(withoutFailed(path));
  const isParquet = findWarehouse(path)?.target.kind === "parquet";
  if (name !== undefined && noted === undefined && !isParquet) {
    throw new UsageError("not_an_output", `${path} is ${name}, which cannot be read back`);
  }
  const format = isParquet ? "parquet" : (noted ?? to ?? detected.format ?? "csv");
  return { path, format, gzip: detected.gzip };
}
