import { mkdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isFolder, makeFolder } from "../../core/files/make-folder.js";
import { takeLock, type Unlock } from "../../core/files/run-lock.js";
import { exportFault } from "./faults.js";
import { listsFolder } from "./folder/export-index.js";

/**
 * Working files of an export before it is published, in `.export.state/` of its folder: the lock and
 * the generation under construction. An interrupted export starts over.
 */
export class ExportState {
  /** Folder of the generation under construction. Starts with an empty folder for stored lists. */
  readonly nextFolder: string;
  /** Folder for files that are about to be deleted or moved into place. */
  readonly scratchFolder: string;
  readonly #folder: string;
  readonly #release: Unlock;

  private constructor(folder: string, release: Unlock) {
    this.#folder = folder;
    this.#release = release;
    this.nextFolder = join(folder, "next");
    this.scratchFolder = join(folder, "scratch");
  }

  /**
   * Locks the state of a folder's export.
   *
   * @throws UsageError `output_locked` while another export writes there; FatalError
   */
  static async open(exportFolder: string): Promise<ExportState> {
    const folder = join(exportFolder, ".export.state");
    let state: ExportState | null = null;
    try {
      state = new ExportState(folder, await lockFolder(folder));
      await state.#remove();
      for (const path of [join(state.nextFolder, listsFolder), state.scratchFolder]) {
        await mkdir(path, { recursive: true });
      }
      return state;
    } catch (error) {
      await state?.release();
      throw exportFault(folder, error);
    }
  }

  async release(): Promise<void> {
    await this.#remove().catch(() => undefined);
    await this.#release();
    // `rmdir` removes only empty folders.
    await rmdir(this.#folder).catch(() => undefined);
  }

  async #remove(): Promise<void> {
    for (const path of [this.nextFolder, this.scratchFolder]) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** Locks a folder, created if missing. An export that ends may remove it meanwhile. */
async function lockFolder(folder: string): Promise<Unlock> {
  for (;;) {
    makeFolder(folder, 0o700);
    try {
      return await takeLock(join(folder, "lock"));
    } catch (error) {
      if (isFolder(folder)) throw error;
    }
  }
}
