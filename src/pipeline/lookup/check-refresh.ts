import { stat } from "node:fs/promises";
import { UsageError } from "../../core/errors.js";
import { inputPaths, type RunInput } from "../../inputs/types.js";
import type { FindingStore, StoredFinding } from "../../store/store.js";

/**
 * Checks that a run can ask for expired answers first: they are kept, and the input can be read twice.
 *
 * @param input null for a table, which is copied
 * @returns a function that finds the expired answer under a key
 * @throws UsageError `refresh_needs_cache`, `refresh_needs_files`
 */
export async function checkRefresh(
  input: RunInput | null,
  cache: FindingStore | undefined,
): Promise<(key: string) => StoredFinding | null> {
  const expired = cache?.expired?.bind(cache);
  if (expired === undefined) {
    throw new UsageError(
      "refresh_needs_cache",
      "--refresh worst-first needs --cache with a folder",
    );
  }
  if (input === null) return expired;
  const paths = inputPaths(input);
  const isFiles = "path" in input || ("inputs" in input && paths.length === input.inputs.length);
  const files = isFiles ? await Promise.all(paths.map((path) => stat(path))) : [];
  if (files.length > 0 && files.every((file) => file.isFile())) return expired;
  throw new UsageError(
    "refresh_needs_files",
    "--refresh worst-first reads the input twice, which a pipe or an object does not allow",
  );
}
