import { fileURLToPath } from "node:url";

/** The dataset that comes with the package; the same place seen from `src/` and from `dist/`. */
export function defaultDatasetFolder(): string {
  return fileURLToPath(new URL("../../../samples/dataset", import.meta.url));
}
