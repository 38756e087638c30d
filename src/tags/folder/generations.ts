import { copyFile, link, lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { readJsonFile } from "../../core/files/json-file.js";
import { exportFault } from "../faults.js";
import { type ExportedTag, type ExportIndex, exportIndexSchema } from "./export-index.js";
import { listsFolder, storedListName } from "./stored-list.js";

/** Name of the index in a generation. */
export const indexName = "index.json";

/** What a generation is called, from the export's folder. */
export const generationForm = /^generations\/\d{8}T\d{6}Z(?:-\d+)?$/;

/** The exports that a folder holds, each in a folder of its own that never changes. */
export class Generations {
  readonly #path: string;

  constructor(exportFolder: string) {
    this.#path = exportFolder;
  }

  /** Where they are. */
  get folder(): string {
    return join(this.#path, generationsFolder);
  }

  /** A name for a generation of this moment that no other has. */
  async nameFor(now: number): Promise<string> {
    const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
    for (let number = 1; ; number++) {
      const name = `${generationsFolder}/${stamp}${number === 1 ? "" : `-${number}`}`;
      if ((await lstat(join(this.#path, name)).catch(() => null)) === null) return name;
    }
  }

  /**
   * The index of a generation; null when it is gone.
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
   * Takes a tag's files over to a generation that is being built in the folder `into`.
   *
   * @returns false when some of them are gone
   * @throws FatalError
   */
  async carryOver(generation: string, tag: ExportedTag, into: string): Promise<boolean> {
    const stored = join(listsFolder, storedListName(tag.stem));
    const from = join(this.#path, generation);
    // Without its stored list a tag can do: its next difference is against nothing.
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
   * Removes all but the newest `keep`, and what an interruption left before it became current. They
   * follow one another by what their indexes say, not by their dates: a clock may be set back.
   *
   * @param scratch an existing folder on the same file system
   */
  async retain(current: ExportIndex, keep: number, scratch: string): Promise<void> {
    const kept = new Set<string>();
    for (let index: ExportIndex | null = current; index !== null && kept.size < keep;) {
      kept.add(index.generation);
      const before: string | null = index.previous_generation;
      index =
        before === null || kept.has(before) ? null : await this.read(before).catch(() => null);
    }
    for (const name of await readdir(this.folder)) {
      const generation = `${generationsFolder}/${name}`;
      if (kept.has(generation) || !generationForm.test(generation)) continue;
      // Gone from its place at once, not file by file.
      await rename(join(this.#path, generation), join(scratch, name));
      await rm(join(scratch, name), { recursive: true, force: true });
    }
  }
}

const generationsFolder = "generations";

/** Another name for the same file, which takes no room; a copy where that cannot be. */
async function shareFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw error;
    await copyFile(from, to);
  }
}

function unreadable(path: string, cause: unknown): UsageError {
  return new UsageError("export_index_unreadable", `${path} is no index that can be read`, {
    cause,
    hint: "restore it from a copy, or export to another folder",
  });
}
