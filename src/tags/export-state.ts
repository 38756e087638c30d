import { createHash } from "node:crypto";
import { mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../core/files/make-folder.js";
import { takeLock } from "../core/files/run-lock.js";
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
  readonly #release: () => Promise<void>;
  readonly #options: ExportStateOptions;
  readonly #source: string;

  private constructor(folder: string, release: () => Promise<void>, options: ExportStateOptions) {
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
      makeFolder(folder, 0o700);
      state = new ExportState(folder, await takeLock(join(folder, "lock")), options);
      if (options.restart) await remove(state.#tags);
      await Promise.all([remove(state.nextFolder), remove(state.scratchFolder)]);
      for (const path of [join(state.nextFolder, listsFolder), state.scratchFolder, state.#tags]) {
        await mkdir(path, { recursive: true });
      }
      return state;
    } catch (error) {
      await state?.release();
      throw exportFault(folder, error);
    }
  }

  /** Discards the pages of all tags but these. */
  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    const kept = new Set(Array.from(names, digestOf));
    for (const name of await readdir(this.#tags)) {
      if (!kept.has(name)) await remove(join(this.#tags, name));
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

  #logOf(tag: string): string {
    return join(this.#tags, digestOf(tag));
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
