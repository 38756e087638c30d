import { createHash } from "node:crypto";
import { mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFolder, makeFolder } from "../core/files/make-folder.js";
import { takeLock, type Unlock } from "../core/files/run-lock.js";
import { exportFault } from "./faults.js";
import { type ExportedTag, listsFolder } from "./folder/export-index.js";
import { PageLog, type Pin } from "./page-log.js";
import type { ExportTagsOptions } from "./types.js";

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
  readonly #tags: string;
  readonly #release: Unlock;
  readonly #options: ExportStateOptions;
  readonly #source: string;

  private constructor(folder: string, release: Unlock, options: ExportStateOptions) {
    this.#folder = folder;
    this.#release = release;
    this.#options = options;
    this.#source = digestOf(options.source);
    this.#tags = join(folder, "tags");
    this.nextFolder = join(folder, "next");
    this.scratchFolder = join(folder, "scratch");
  }

  /**
   * Locks the state of a folder's export.
   *
   * @throws UsageError `output_locked` while another export writes there; FatalError
   */
  static async open(exportFolder: string, options: ExportStateOptions): Promise<ExportState> {
    const folder = join(exportFolder, ".export.state");
    let state: ExportState | null = null;
    try {
      state = new ExportState(folder, await lockFolder(folder), options);
      if (options.restart) await remove(state.#tags);
      await Promise.all([remove(state.nextFolder), remove(state.scratchFolder)]);
      for (const path of [join(state.nextFolder, listsFolder), state.scratchFolder, state.#tags]) {
        await mkdir(path, { recursive: true });
      }
      await state.#forgetOld();
      return state;
    } catch (error) {
      await state?.release();
      throw exportFault(folder, error);
    }
  }

  /** A tag's pages from an interrupted export; null if there are none to continue from. */
  async resume(tag: string, published: ExportedTag | null): Promise<PageLog | null> {
    const log = await PageLog.resume(this.#logOf(tag));
    if (log === null) return null;
    const { pin } = log;
    // Negative if the clock was set back.
    const age = this.#options.clock.now() - Date.parse(pin.pinnedAt);
    // Interrupted after publishing: the folder already has this list.
    const isPublished =
      published?.snapshot === pin.snapshot && published.exported_at === pin.pinnedAt;
    if (Math.abs(age) <= maxAgeMs && pin.source === this.#source && !isPublished) return log;
    await log.remove();
    return null;
  }

  begin(pin: Omit<Pin, "version" | "source">): Promise<PageLog> {
    return PageLog.begin(this.#logOf(pin.tag), { version: 3, source: this.#source, ...pin });
  }

  async forget(tag: string): Promise<void> {
    await remove(this.#logOf(tag));
  }

  /** Releases the folder and leaves the pages that the next export can continue from. */
  async release(): Promise<void> {
    await Promise.all([this.nextFolder, this.scratchFolder].map(remove)).catch(() => undefined);
    // `rmdir` removes only empty folders.
    await rmdir(this.#tags).catch(() => undefined);
    await this.#release();
    await rmdir(this.#folder).catch(() => undefined);
  }

  /** Discards pages that are too old to continue from, of whatever tag. */
  async #forgetOld(): Promise<void> {
    for (const name of await readdir(this.#tags)) {
      const { mtimeMs } = await stat(join(this.#tags, name));
      if (this.#options.clock.now() - mtimeMs > maxAgeMs) await remove(join(this.#tags, name));
    }
  }

  #logOf(tag: string): string {
    return join(this.#tags, digestOf(tag));
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

/** Maximum age of an interrupted export that can be continued: 6 hours. */
const maxAgeMs = 6 * 3_600_000;

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
