import { createHash } from "node:crypto";
import { mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../core/errors.js";
import { makeFolder } from "../core/files/make-folder.js";
import { takeLock } from "../core/files/run-lock.js";
import { exportFault } from "./faults.js";
import type { ExportedTag } from "./folder/export-index.js";
import { listsFolder } from "./folder/write-file.js";
import type { ExportTagsOptions } from "./types.js";
import { PageLog, type Pin, readPin } from "./page-log.js";

type ExportStateOptions = Pick<ExportTagsOptions, "clock" | "source" | "restart">;

/**
 * Working files of an export before it is published, in `.export.state/` of its folder: the lock,
 * the pages read and the generation under construction. They survive an interruption, and the next
 * export continues from them.
 */
export class ExportState {
  /** Folder of the generation under construction. Starts with an empty folder for stored lists. */
  readonly nextFolder: string;
  /** Folder for files that are about to be deleted or moved into place. */
  readonly scratchFolder: string;
  readonly #folder: string;
  readonly #release: () => Promise<void>;
  readonly #options: ExportStateOptions;
  readonly #source: string;

  private constructor(folder: string, release: () => Promise<void>, options: ExportStateOptions) {
    this.#folder = folder;
    this.#release = release;
    this.#options = options;
    this.#source = createHash("sha256").update(options.source).digest("hex");
    this.nextFolder = join(folder, "next");
    this.scratchFolder = join(folder, "scratch");
  }

  /**
   * Locks the state of a folder's export.
   *
   * @throws UsageError `output_locked` while another export writes there; FatalError
   */
  static async open(exportFolder: string, options: ExportStateOptions): Promise<ExportState> {
    const folder = join(exportFolder, stateFolder);
    const state = new ExportState(folder, await lock(folder), options);
    try {
      for (const path of [state.nextFolder, state.scratchFolder]) {
        await remove(path);
        await mkdir(path);
      }
      await mkdir(join(state.nextFolder, listsFolder));
      if (options.restart) await remove(join(folder, tagsFolder));
      await state.#forgetOld();
      return state;
    } catch (error) {
      await state.release();
      throw exportFault(folder, error);
    }
  }

  /** A tag's pages from an interrupted export; null if there are none to continue from. */
  async resume(tag: string, published: ExportedTag | null): Promise<PageLog | null> {
    const log = await PageLog.resume(this.#logFolder(tag));
    if (log === null) return null;
    const { pin } = log;
    // Interrupted after publishing: the folder already has this list.
    const isPublished =
      published?.snapshot === pin.snapshot && published.exported_at === pin.pinnedAt;
    if (pin.tag === tag && pin.source === this.#source && !isPublished) return log;
    await log.remove();
    return null;
  }

  begin(pin: Omit<Pin, "version" | "source">): Promise<PageLog> {
    return PageLog.begin(this.#logFolder(pin.tag), { version: 2, source: this.#source, ...pin });
  }

  async forget(tag: string): Promise<void> {
    await remove(this.#logFolder(tag));
  }

  /** Releases the folder and leaves the pages that the next export can continue from. */
  async release(): Promise<void> {
    await Promise.all([this.nextFolder, this.scratchFolder].map(remove)).catch(() => undefined);
    // `rmdir` removes only empty folders.
    await rmdir(join(this.#folder, tagsFolder)).catch(() => undefined);
    await this.#release();
    await rmdir(this.#folder).catch(() => undefined);
  }

  async #forgetOld(): Promise<void> {
    const folder = join(this.#folder, tagsFolder);
    const names = await readdir(folder).catch(() => []);
    for (const name of names) {
      const pin = await readPin(join(folder, name));
      const age = this.#options.clock.now() - Date.parse(pin?.pinnedAt ?? "");
      // The age is negative if the clock was set back.
      const isRecent = Math.abs(age) <= maxAgeMs;
      if (!isRecent) await remove(join(folder, name));
    }
  }

  #logFolder(tag: string): string {
    const name = createHash("sha256").update(tag).digest("hex").slice(0, 32);
    return join(this.#folder, tagsFolder, name);
  }
}

/** Maximum age of an interrupted export that can be continued: 6 hours. */
const maxAgeMs = 6 * 3_600_000;

const stateFolder = ".export.state";
const tagsFolder = "tags";

async function lock(folder: string): Promise<() => Promise<void>> {
  for (let attempt = 1; ; attempt++) {
    try {
      makeFolder(folder, 0o700);
      return await takeLock(join(folder, "lock"));
    } catch (error) {
      if (error instanceof UsageError) throw error;
      // Another export has just ended and removed the folder.
      const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!isGone || attempt === 10) throw exportFault(folder, error);
    }
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
