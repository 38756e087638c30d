import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { FatalError, UsageError } from "../core/errors.js";
import type { PartFormat, PartRecord } from "../outputs/types.js";
import { sinkFormats } from "../formats/types.js";
import type { Manifest } from "../run/types.js";
import { dataSetManifest } from "../core/files/output-names.js";

/** `DIR` as `DIR/` if it is the folder of a data set; any other name unchanged. */
export function asOutputName(path: string): string {
  if (path.endsWith("/") || !existsSync(join(path, dataSetManifest))) return path;
  return statSync(path).isDirectory() ? `${path}/` : path;
}

/** The files of a data set, as its manifest names them. */
export interface DataSetParts {
  readonly format: PartFormat;
  /** Records with their paths. */
  readonly parts: readonly (PartRecord & { readonly path: string; readonly gzip: boolean })[];
}

/**
 * Reads which files a data set has from its manifest.
 *
 * @param folder with a trailing slash
 * @throws UsageError `manifest_missing` if there is none, `manifest_unreadable` if it is another's
 */
export function dataSetParts(folder: string, manifest: Partial<Manifest> | null): DataSetParts {
  const path = folder + dataSetManifest;
  if (manifest === null) {
    throw new UsageError("manifest_missing", `there is no ${path}`, {
      hint: "a data set without a manifest is not complete; name another folder",
    });
  }
  const format = [...sinkFormats, "parquet" as const].find(
    (name) => name === manifest.output?.format,
  );
  const { parts } = manifest.output ?? {};
  if (format === undefined || !Array.isArray(parts)) {
    throw new UsageError("manifest_unreadable", `${path} is not the manifest of a data set`);
  }
  return {
    format,
    parts: (parts as readonly PartRecord[]).map((part) => {
      const name = basename(part.name);
      const file = folder + name;
      if (!existsSync(file)) {
        throw new FatalError("output_corrupt", `${file} is missing: ${path} names it`, {
          hint: "restore it from a copy",
        });
      }
      return Object.assign(part, { path: file, gzip: name.endsWith(".gz") });
    }),
  };
}
