import { mkdir, rmdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { hasRunWords, namedAfter, type RunStart } from "../../../core/files/output-names.js";
import { outputFault } from "../../../core/files/output-fault.js";
import { checkFolder } from "../../../io/output/check-paths.js";

/** Folders with `{date}` or `{run_id}` in their names, which a run creates. */
export class NamedFolders {
  readonly #made: string[] = [];

  /**
   * Creates those of a file.
   *
   * @param file its path with words that stand for a run
   * @throws UsageError `output_folder_missing` if the first of them has no parent; FatalError
   */
  async make(file: string, run: RunStart): Promise<void> {
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
