import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { findWarehouse } from "../../outputs/warehouse/registry.js";

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
