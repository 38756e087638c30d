import { mkdir, rmdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { hasRunWords, namedAfter, type RunStart } from "../../../core/files/output-names.js";
import { outputFault } from "../../../io/output/output-fault.js";
import { isObjectAddress } from "../../../io/object/address.js";
import { checkFolder } from "../../../io/output/check-paths.js";

/** Folders with `{date}` or `{run_id}` in their names, which a run creates. */
export class NamedFolders {
  readonly #made: string[] = [];

  /**
   * Creates those of a file.
   *
   * @param pattern path of the file, or address of a DuckDB table, with its words
   * @throws UsageError `output_folder_missing` if the first of them has no parent; FatalError
   */
  async make(pattern: string, run: RunStart): Promise<void> {
    if (isObjectAddress(pattern)) return;
    const [file = ""] = pattern.replace(/^duckdb:/i, "").split("?", 1);
    const steps = dirname(file).split("/");
    const first = steps.findIndex(hasRunWords);
    if (first < 0) return;
    for (let depth = first + 1; depth <= steps.length; depth++) {
      const folder = resolve(namedAfter(steps.slice(0, depth).join("/"), run));
      if (depth === first + 1) await checkFolder(folder);
      await mkdir(folder).then(
        () => this.#made.push(folder),
        (error: NodeJS.ErrnoException) => {
          if (error.code !== "EEXIST") throw outputFault(folder, error);
        },
      );
    }
  }

  /** Removes those that are empty. */
  async tidy(): Promise<void> {
    for (const folder of this.#made.splice(0).toReversed()) {
      await rmdir(folder).catch(() => undefined);
    }
  }
}

/**
 * The name from which a run's state derives. From the first folder with a word on, it has `%2F` for
 * slashes, because those folders differ from run to run.
 */
export function withoutNamedFolders(pattern: string): string {
  if (isObjectAddress(pattern) || !hasRunWords(pattern)) return pattern;
  const [file = "", table = ""] = /^duckdb:/i.test(pattern)
    ? pattern.split(/(?=\?)/, 2)
    : [pattern];
  const place = /^[^{]*\//.exec(file)?.[0] ?? "";
  const name = file.slice(place.length);
  return place + name.replaceAll("/", "%2F") + table;
}
