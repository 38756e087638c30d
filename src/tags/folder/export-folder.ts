import { lstat, mkdir, readdir, readlink, rename, rm, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { writeJsonFile } from "../../core/files/json-file.js";
import { makeFolder, syncFolder } from "../../core/files/make-folder.js";
import { isObjectAddress } from "../../s3/address.js";
import type { AddressList } from "../address/address-list.js";
import { exportFault } from "../faults.js";
import { type ExportedTag, exportedTags, type ExportIndex } from "./export-index.js";
import { fileEndings } from "./file-stems.js";
import { generationForm, Generations, indexName } from "./generations.js";
import { listsFolder, loadList, storedListName } from "./write-file.js";

/**
 * A folder of tag lists.
 *
 * ```
 * DIR/generations/20240101T030000Z/   index.json, spam--bulk.txt …: one export; it never changes
 * DIR/current                         -> generations/20240101T030000Z
 * DIR/index.json, DIR/spam--bulk.txt  -> current/index.json, current/spam--bulk.txt
 * ```
 *
 * An export is built elsewhere and moved to `generations/` as a whole. Readers see the change in
 * one step, when a new `current` is renamed over the old one (Kubernetes updates config map volumes
 * the same way). Until then, names that only the new export has are dangling links.
 *
 * To read several files of one export, follow `generation` in `index.json`, or resolve `current`
 * once.
 */
export class ExportFolder {
  readonly path: string;
  readonly generations: Generations;

  private constructor(path: string) {
    this.path = path;
    this.generations = new Generations(path);
  }

  /**
   * Opens a folder, and creates it if necessary.
   *
   * @throws UsageError `export_to_objects` for an `s3://` address, `export_folder_in_use` if foreign
   *   files occupy names that an export needs; FatalError
   */
  static async open(path: string): Promise<ExportFolder> {
    assertLocal(path);
    const folder = new ExportFolder(path);
    try {
      makeFolder(folder.generations.folder);
    } catch (error) {
      const { message, code } = exportFault(path, error);
      const hint = "choose a writable folder with -o, or with --tag-ips for a run";
      throw new FatalError(code, message, { cause: error, hint });
    }
    for (const name of [indexName, currentName]) {
      if (!(await folder.#isFree(name))) throw inUse(path, name);
    }
    return folder;
  }

  /**
   * Checks early that a folder can take an export.
   *
   * @throws as {@link open} and {@link current}
   */
  static async check(path: string): Promise<void> {
    assertLocal(path);
    const made = await mkdir(path, { recursive: true }).catch(() => undefined);
    await (await ExportFolder.open(path)).current();
    // A run that exports nothing must leave no folder.
    if (made !== undefined) await rm(made, { recursive: true });
  }

  /**
   * The index of the current export; null if there is none.
   *
   * @throws UsageError `export_index_unreadable`
   */
  async current(): Promise<ExportIndex | null> {
    const generation = await readlink(join(this.path, currentName)).catch(() => null);
    return generation === null ? null : this.generations.read(generation);
  }

  /** A tag's addresses in the current export; null if they cannot be read. */
  listOf(tag: ExportedTag): Promise<AddressList | null> {
    return loadList(join(this.path, currentName, listsFolder, storedListName(tag.stem)), tag);
  }

  /** True if no foreign file occupies the names of a tag's files. */
  async canUse(stem: string): Promise<boolean> {
    for (const ending of fileEndings) {
      if (!(await this.#isFree(`${stem}.${ending}`))) return false;
    }
    return true;
  }

  /**
   * Publishes a generation as the current export.
   *
   * @param scratch an existing folder on the same file system
   * @throws FatalError; the previous export then stays current
   */
  async publish(built: string, index: ExportIndex, scratch: string): Promise<void> {
    try {
      await writeJsonFile(join(built, indexName), index);
      await syncFolder(join(built, listsFolder));
      await syncFolder(built);
      await rename(built, join(this.path, index.generation));
      await syncFolder(this.generations.folder);
      for (const name of namesOf(index)) {
        if (!(await this.#isOurs(name))) await symlink(linkTo(name), join(this.path, name));
      }
      const fresh = join(scratch, currentName);
      await symlink(index.generation, fresh);
      await rename(fresh, join(this.path, currentName));
      await syncFolder(this.path);
    } catch (error) {
      throw exportFault(this.path, error);
    }
  }

  /**
   * Removes links to files that no longer exist, and all generations but the newest two.
   *
   * @param scratch an existing folder on the same file system
   */
  async tidy(current: ExportIndex | null, scratch: string): Promise<void> {
    try {
      const names = new Set(current ? namesOf(current) : []);
      for (const entry of await readdir(this.path, { withFileTypes: true })) {
        const { name } = entry;
        if (!entry.isSymbolicLink() || name === currentName || names.has(name)) continue;
        if (await this.#isOurs(name)) await unlink(join(this.path, name));
      }
      // If `current` is lost, keep all generations: the user may need to recover one.
      if (current !== null) await this.generations.retain(current, scratch);
    } catch (error) {
      throw exportFault(this.path, error);
    }
  }

  /** True if the name is unused or one of our links. */
  async #isFree(name: string): Promise<boolean> {
    const found = await lstat(join(this.path, name)).catch(() => null);
    return found === null || this.#isOurs(name);
  }

  async #isOurs(name: string): Promise<boolean> {
    const target = await readlink(join(this.path, name)).catch(() => "");
    return name === currentName ? generationForm.test(target) : target === linkTo(name);
  }
}

const currentName = "current";

/** Target of the link for a file name. */
function linkTo(name: string): string {
  return `${currentName}/${name}`;
}

/** Files of an export that get a link in the folder. */
function namesOf(index: ExportIndex): string[] {
  return [indexName, ...exportedTags(index).flatMap((tag) => tag.files.map(({ file }) => file))];
}

function assertLocal(path: string): void {
  if (!isObjectAddress(path)) return;
  throw new UsageError("export_to_objects", `tag lists go to a folder, not to ${path}`, {
    hint: `export to a folder, then run: aws s3 sync DIR ${path}`,
  });
}

function inUse(path: string, name: string): UsageError {
  return new UsageError(
    "export_folder_in_use",
    `${join(path, name)} exists and does not belong to an export`,
    { hint: `export to another folder, or move ${name} away` },
  );
}
