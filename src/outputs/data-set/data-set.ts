import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile } from "../../core/files/json-file.js";
import { realPath } from "../../core/files/real-path.js";
import { parseManifest } from "../../core/manifest/found-manifest.js";
import { type PartRecord } from "../../core/manifest/manifest.js";
import type { PartFormat } from "../types.js";
import type { WarehouseTarget } from "../warehouse/target.js";
import { dataSetManifest } from "../../core/files/output-names.js";

export interface DataSetTarget extends WarehouseTarget {
  readonly kind: "data set";
  readonly file: null;
}

export const defaultRowsPerFile = 1_000_000;

/** Whether an output is a folder of files: its name ends in `/`. */
function namesDataSet(output: string): boolean {
  return output.endsWith("/") && !/^[a-z][a-z0-9+.-]+:/i.test(output);
}

export function parseDataSetTarget(output: string): DataSetTarget | null {
  if (!namesDataSet(output)) return null;
  return { kind: "data set", file: null, display: output, base: `${realPath(output)}/` };
}

/** Appends a suffix to the path from which the names of a run's files derive. */
export function withSuffix(base: string, suffix: string): string {
  return base.endsWith("/") ? `${base.slice(0, -1)}${suffix}/` : base + suffix;
}

/** Other programs write such names without an identifier. */
const partForm = /^part-\d{5,}(-[0-9a-f-]{36})?\.(csv|tsv|ndjson|parquet)(\.gz)?$/;

const hasId = /^part-\d+-[0-9a-f-]{36}\./;

/** File name of a part. @param id tells it from the parts of other runs. @default none */
export function partName(number: number, format: PartFormat, gzip: boolean, id?: string): string {
  const extension =
    format === "csv" || format === "tsv" || format === "parquet" ? format : "ndjson";
  const name = `part-${String(number).padStart(5, "0")}${id === undefined ? "" : `-${id}`}`;
  return `${name}.${extension}${gzip ? ".gz" : ""}`;
}

/** Names of the files in a folder that have the form of a part; none if it does not exist. */
export async function partsIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => partForm.test(name));
}

/** The parts in a folder that a data set does not name: those of earlier ones. */
export async function earlierParts(
  folder: string,
  parts: readonly Pick<PartRecord, "name">[],
): Promise<readonly string[]> {
  const named = new Set(parts.map(({ name }) => name));
  return (await partsIn(folder)).filter((name) => hasId.test(name) && !named.has(name));
}

export async function holdsDataSet(folder: string): Promise<boolean> {
  return (await namedParts(folder)).length > 0;
}

export async function namedParts(folder: string): Promise<readonly PartRecord[]> {
  const path = join(folder, dataSetManifest);
  const found = await readJsonFile(path)
    .then((value) => parseManifest(value, path))
    .catch(() => null);
  return found?.output?.parts ?? [];
}
