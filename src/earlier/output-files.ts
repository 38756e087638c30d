import type { FoundManifest } from "../core/manifest/found-manifest.js";
import type { PartRecord } from "../core/manifest/manifest.js";
import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { FatalError, UsageError } from "../core/errors.js";
import { dataSetManifest, withoutFailed } from "../core/files/output-names.js";
import { detectSinkFormat } from "../formats/registry.js";
import { sinkFormats } from "../formats/types.js";
import { findWarehouse } from "../outputs/registry.js";
import type { PartFormat } from "../outputs/types.js";

/** `DIR` as `DIR/` if it is the folder of a data set; any other name unchanged. */
export function asOutputName(path: string): string {
  if (path.endsWith("/") || !existsSync(join(path, dataSetManifest))) return path;
  return statSync(path).isDirectory() ? `${path}/` : path;
}

export interface OutputFile {
  readonly path: string;
  readonly gzip: boolean;
  /** What the manifest of its data set says of it; null for a single file. */
  readonly part: PartRecord | null;
}

export interface OutputFiles {
  readonly format: PartFormat;
  readonly files: readonly OutputFile[];
}

/**
 * Finds the files of an output.
 *
 * @param path of a file, or of a folder with a trailing slash
 * @param manifest beside it, or null
 * @param to the format, where neither the manifest nor the name tells it
 */
export function outputFiles(
  path: string,
  manifest: FoundManifest | null,
  to?: PartFormat,
): OutputFiles {
  const { format: name, parts } = manifest?.output ?? {};
  const noted = [...sinkFormats, "parquet" as const].find((known) => known === name);
  if (!path.endsWith("/")) {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts?.isFIFO() || facts?.isCharacterDevice()) {
      throw new UsageError("not_an_output", `${path} is not a regular file`, {
        hint: "an output is read more than once: write it to a file first",
      });
    }
    const detected = detectSinkFormat(withoutFailed(path));
    const isParquet = findWarehouse(path)?.target.kind === "parquet";
    if (name !== undefined && noted === undefined && !isParquet) {
      throw new UsageError("not_an_output", `${path} is ${name}, which cannot be read back`);
    }
    const format = isParquet ? "parquet" : (noted ?? to ?? detected.format ?? "csv");
    return { format, files: [{ path, gzip: detected.gzip, part: null }] };
  }
  const place = path + dataSetManifest;
  if (manifest === null) {
    throw new UsageError("manifest_missing", `there is no ${place}`, {
      hint: "a data set without a manifest is not complete; name another folder",
    });
  }
  if (noted === undefined || parts === undefined) {
    throw new UsageError("manifest_unreadable", `${place} is not the manifest of a data set`);
  }
  const files = parts.map((part): OutputFile => {
    const file = path + basename(part.name);
    if (!existsSync(file)) {
      throw new FatalError("output_corrupt", `${file} is missing: ${place} names it`, {
        hint: "restore it from a copy",
      });
    }
    return { path: file, gzip: file.endsWith(".gz"), part };
  });
  return { format: noted, files };
}
