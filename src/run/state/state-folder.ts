import { existsSync, renameSync, rmSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { checkResume } from "../options.js";
import {
  type AnyCheckpoint,
  type Checkpoint,
  checkpointName,
  checkpointVersion,
  type FinishedRun,
  markName,
  readAnyCheckpoint,
  readCheckpoint,
  readMark,
  writeSealed,
} from "./checkpoint.js";
import {
  awaitsTakeOver,
  earlierName,
  type EarlierRun,
  keepJournal,
  readEarlierRun,
} from "./earlier-run.js";
import {
  begunName,
  listState,
  lockFolder,
  removeBegun,
  removeEmpty,
  removeEntries,
  removeState,
} from "./own-files.js";

export interface StateOptions {
  readonly resume: boolean;
  readonly restart: boolean;
  readonly name?: string;
  /** The folder that the state is in, if it is removed with it. */
  readonly within?: string | undefined;
}

/** Folder beside an output that holds the state of its run. */
export function statePath(output: string): string {
  return `${output.replace(/\/$/, "")}.state`;
}

/**
 * Opens and locks the state of an output's run.
 *
 * @param output path from which the folder's name derives
 * @param options.name name of the output in messages; by default its path
 * @param discard called on a restart to remove what the interrupted run left elsewhere, with its
 *   checkpoint; null if that cannot be read
 * @throws UsageError `state_exists` if there is an interrupted run and neither flag is set,
 *   `output_locked` if a run is in progress
 */
export async function openStateFolder(
  output: string,
  { resume, restart, name = output, within }: StateOptions,
  discard: (found: AnyCheckpoint | null) => Promise<void> = () => Promise.resolve(),
): Promise<StateFolder> {
  const folder = statePath(output);
  checkResume({ resume, restart });
  const done = `${folder}.done`;
  await listState(folder);
  await listState(done);
  const release = await lockFolder(folder);
  try {
    // Left by a run that was killed during its cleanup.
    await removeState(done);
    const mark = `${within ?? folder}.finished`;
    if (existsSync(mark)) await rename(mark, join(folder, markName));
    const found = await listState(folder);
    // A merge that was killed leaves only rows, which are still in the chunks.
    const isInterrupted = found.some((each) => each !== "rows.part");
    if (isInterrupted && !resume && !restart) throw refusal(name, folder);
    if (restart) {
      // Discard first: until that is done, the folder tells what is left to discard.
      if (found.includes(markName) || found.includes(checkpointName)) {
        await discard(await readAnyCheckpoint(folder));
      }
      await removeBegun(folder);
      await removeEntries(folder, found);
    }
    const state = new StateFolder(folder, release, mark);
    if (resume) await state.read(found);
    return state;
  } catch (error) {
    await release();
    throw error;
  }
}

/** State kept beside a growing output: checkpoint, journal and lock. */
export class StateFolder {
  readonly path: string;
  /** Progress of the interrupted run; null for a new run. */
  checkpoint: Checkpoint | null = null;
  /** A run that was killed after its rows were complete; null if there is none to resume. */
  finished: FinishedRun | null = null;
  /** A discarded run whose answers this one takes over; null for none, and once they are saved. */
  earlier: EarlierRun | null = null;
  /** True if the folder holds something to resume. */
  resumable = false;
  /** Releases the lock and leaves the rest for `--resume`. */
  readonly release: () => Promise<void>;
  /** Where the mark is while the folder is removed. */
  readonly #markBeside: string;
  /** The latest checkpoint; null before the first one. */
  #latest: Checkpoint | null = null;

  constructor(folder: string, release: () => Promise<void>, mark: string) {
    this.path = folder;
    this.#markBeside = mark;
    this.release = release;
  }

  /** Reads what an interrupted run left, and removes what belongs to no known run. */
  async read(found: readonly string[]): Promise<void> {
    this.finished = await readMark(this.path);
    const awaited = awaitsTakeOver(found);
    if (this.finished !== null) this.checkpoint = this.finished.checkpoint;
    else if (awaited) this.earlier = await readEarlierRun(this.path);
    else this.checkpoint = await readCheckpoint(this.path);
    this.#latest = this.checkpoint;
    this.resumable = this.checkpoint !== null;
    const isKept = (name: string): boolean =>
      name === begunName ||
      (name === earlierName
        ? awaited && (this.resumable || this.earlier !== null)
        : this.resumable);
    await removeEntries(
      this.path,
      found.filter((name) => !isKept(name)),
    );
  }

  /** The run produced nothing worth resuming. */
  forget(): void {
    this.resumable = false;
  }

  async save(next: Checkpoint): Promise<void> {
    await writeSealed(join(this.path, checkpointName), next);
    this.#latest = next;
    this.resumable = true;
    if (this.earlier === null) return;
    this.earlier = null;
    await rm(join(this.path, earlierName), { recursive: true });
  }

  /** Records that the rows are complete: from here on, a resume publishes and looks nothing up. */
  async markFinished(finished: FinishedRun): Promise<void> {
    const mark = { version: checkpointVersion, ...finished };
    await writeSealed(join(this.path, markName), mark);
    this.finished = finished;
  }

  /** Records that everything is published: from here on, a resume only removes what is left. */
  async markPublished(manifest: Manifest): Promise<void> {
    if (this.finished === null || this.finished.published === true) return;
    await this.markFinished({ ...this.finished, manifest, published: true });
  }

  /** Discards the run except for its answers, which the next run takes over. */
  async startOver(): Promise<void> {
    if (this.#latest !== null) await keepJournal(this.path, this.#latest);
    await this.tidy(earlierName, begunName);
    await rm(join(this.path, markName), { force: true });
    this.earlier = await readEarlierRun(this.path);
    this.checkpoint = null;
    this.finished = null;
    this.#latest = null;
    this.resumable = false;
  }

  /** Removes everything except the mark of a finished run, the lock, and entries that are `kept`. */
  async tidy(...kept: readonly string[]): Promise<void> {
    const names = await listState(this.path);
    await removeEntries(
      this.path,
      names.filter((name) => name !== markName && !kept.includes(name)),
    );
  }

  /**
   * Removes the mark and the lock. Synchronous, as the last step before the process exits.
   *
   * @param before removes the folder that the state is in
   */
  removeMark(before: () => void = () => undefined): void {
    const mark = this.#markBeside;
    renameSync(join(this.path, markName), mark);
    // `release` gives up the lock synchronously, before it returns its promise.
    void this.release().catch(() => undefined);
    removeEmpty(this.path);
    before();
    // The last step, and atomic: until here, a resume finds the mark.
    rmSync(mark);
  }

  /**
   * Removes the folder of a run that produced nothing worth resuming. Answers that it has taken over
   * stay for the next run.
   */
  async remove(): Promise<void> {
    if (this.earlier !== null || (this.#latest?.tally.took_over ?? 0) > 0) {
      await this.startOver();
    } else await this.#removeFolder();
    await this.release();
  }

  async #removeFolder(): Promise<void> {
    // Rename first: a half-removed folder would look like a run that never started. Foreign files
    // stay.
    const isOurs = await listState(this.path).then(
      () => true,
      () => false,
    );
    if (!isOurs) return removeState(this.path);
    const gone = `${this.path}.done`;
    await rename(this.path, gone).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    await removeState(gone);
  }
}

function refusal(name: string, folder: string): UsageError {
  return new UsageError("state_exists", `an interrupted run of ${name} exists (${folder})`, {
    hint: `continue it with --resume, or ${startOver}`,
  });
}
