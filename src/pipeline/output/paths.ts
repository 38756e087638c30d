import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { findWarehouse } from "../../outputs/warehouse/registry.js";

/** The file that a path stands for, symbolic links followed; of one that is not there, its own path. */
export async function finalPath(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

/**
 * Path that the files of a run begin with (`BASE.state/`, `BASE.manifest.json`): the output's own
 * where it is a file, symbolic links followed.
 *
 * @throws UsageError as `findWarehouse`
 */
export function outputBase(output: string): string {
  const warehouse = findWarehouse(output);
  if (warehouse !== null) return warehouse.target.base;
  try {
    return realpathSync(output);
  } catch {
    return resolve(output);
  }
}

/** The record of a run, beside its output. */
export function manifestPath(base: string): string {
  return `${base}.manifest.json`;
}
