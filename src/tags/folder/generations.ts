import { copyFile, link, lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { readJsonFile } from "../../core/files/json-file.js";
import { exportFault } from "../faults.js";
import { type ExportedTag, type ExportIndex, exportIndexSchema } from "./export-index.js";
import { listsFolder, storedListName } from "./write-file.js";

export const indexName = "index.json";

/** Path of a generation within the export's folder. */
export const generationForm = /^generations\/\d{8}T\d{6}Z(?:-\d+)?$/;

/** The exports in a folder, each in a folder of its own that never changes. */
export class Generations {
  readonly #path: string;

  constructor(exportFolder: string) {
    this.#path = exportFolder;
  }

  get folder(): string {
    return join(this.#path, generationsFolder);
  }

  /** An unused name for a generation created now. */
  async nameFor(now: number): Promise<string> {
    const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
    for (let number = 1; ; number++) {
      const name = `${generationsFolder}/${stamp}${number === 1 ? "" : `-${number}`}`;
      if ((await lstat(join(this.#path, name)).catch(() => null)) === null) return name;
    }
  }

  /**
   * The index of a generation; null if it is gone.
   *
   * @throws UsageError `export_index_unreadable`
   */
  async read(generation: string): Promise<ExportIndex | null> {
    const path = join(this.#path, generation, indexName);
    let value: unknown;
    try {
      value = await readJsonFile(path);
    } catch (error) {
      throw unreadable(path, error);
    }
    if (value === null) return null;
    const index = exportIndexSchema.safeParse(value);
    if (index.success && index.data.generation === generation) return index.data;
    throw unreadable(path, index.error);
  }

  /**
   * Carries a tag's files over to the generation under construction in `into`.
   *
   * @returns false if some of them are gone
   * @throws FatalError
   */
  async carryOver(generation: string, tag: ExportedTag, into: string): Promise<boolean> {
    const stored = join(listsFolder, storedListName(tag.stem));
    const from = join(this.#path, generation);
    // The stored list is optional: without it, the next difference is against an empty list.
    await shareFile(join(from, stored), join(into, stored)).catch(() => undefined);
    try {
      for (const { file } of tag.files) await shareFile(join(from, file), join(into, file));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw exportFault(this.#path, error);
      return false;
    }
  }

  /**
   * Removes all generations but the current one and the one before it, for readers that still use
   * it. Follows the link in the index, not dates, because clocks can be set back.
   *
   * @param scratch an existing folder on the same file system
   */
  async retain(current: ExportIndex, scratch: string): Promise<void> {
    const kept = new Set([current.generation, current.previous_generation]);
    for (const name of await readdir(this.folder)) {
      const generation = `${generationsFolder}/${name}`;
      if (kept.has(generation) || !generationForm.test(generation)) continue;
      // Rename first, so that the generation disappears in one step.
      await rename(join(this.#path, generation), join(scratch, name));
      await rm(join(scratch, name), { recursive: true, force: true });
    }
  }
}

const generationsFolder = "generations";

/** Links a file under another name, or copies it if the file system cannot link. */
async function shareFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw error;
    await copyFile(from, to);
  }
}

function unreadable(path: string, cause: unknown): UsageError {
  return new UsageError(
    "export_index_unreadable",
    `cannot read ${path}: not a valid export index`,
    {
      cause,
      hint: "restore it from a backup, or export to another folder",
    },
  );
}
