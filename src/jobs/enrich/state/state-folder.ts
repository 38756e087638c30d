import { existsSync, renameSync, rmSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError, startOver, continueRun } from "../../../core/errors.js";
import type { RunJournal } from "../../../client/store/store.js";
import type { Manifest } from "../../../core/manifest.js";
import { checkResume } from "../options.js";
import {
  type AnyCheckpoint,
  begunName,
  checkpointName,
  checkpointVersion,
  earlierName,
  type FinishedRun,
  fromFirstRow,
  markName,
  readAnyCheckpoint,
  readCheckpoint,
  readMark,
  type ResumePoint,
  writeSealed,
} from "./checkpoint.js";
import { doneName, StateFiles, statePath } from "./state-files.js";

/** A discarded run whose answers the next one takes over. */
export interface EarlierRun {
  readonly journalPath: string;
  readonly checkpoint: ResumePoint;
}

interface StateOptions {
  readonly resume: boolean;
  readonly restart: boolean;
  readonly name?: string;
  /** The folder that the state is in, if it is removed with it. */
  readonly within?: string | undefined;
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
  const files = new StateFiles(folder);
  const done = new StateFiles(doneName(folder));
  await files.list();
  await done.list();
  const release = await files.lock();
  try {
    // Left by a run that was killed during its cleanup.
    await done.removeAll();
    const mark = `${within ?? folder}.finished`;
    if (existsSync(mark)) await rename(mark, join(folder, markName));
    const found = await files.list();
    if (found.length > 0 && !resume && !restart) throw refusal(name, folder);
    if (restart) {
      // Discard first: until that is done, the folder tells what is left to discard.
      if (found.includes(markName) || found.includes(checkpointName)) {
        await discard(await readAnyCheckpoint(folder));
      }
      await files.removeNoted();
      await files.remove(found);
    }
    const state = new StateFolder(files, release, mark);
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
  checkpoint: ResumePoint | null = null;
  /** A run that was killed after its rows were complete; null if there is none to resume. */
  finished: FinishedRun | null = null;
  /** A discarded run whose answers this one takes over; null for none, and once they are saved. */
  earlier: EarlierRun | null = null;
  /** True if the folder holds something to resume. */
  resumable = false;
  /** Releases the lock and leaves the rest for `--resume`. */
  readonly release: () => Promise<void>;
  readonly #files: StateFiles;
  /** Where the mark is while the folder is removed. */
  readonly #markBeside: string;
  /** The latest checkpoint; null before the first one. */
  #latest: ResumePoint | null = null;

  constructor(files: StateFiles, release: () => Promise<void>, mark: string) {
    this.path = files.folder;
    this.#files = files;
    this.#markBeside = mark;
    this.release = release;
  }

  /** Reads what an interrupted run left, and removes what belongs to no known run. */
  async read(found: readonly string[]): Promise<void> {
    this.finished = await readMark(this.path);
    // A new run saves its first checkpoint once it has the answers of the discarded one.
    const isBegun = found.includes(checkpointName) && found.includes("journal");
    const awaited = found.includes(earlierName) && !isBegun;
    if (this.finished !== null) this.checkpoint = this.finished.checkpoint;
    else if (awaited) this.earlier = await this.#readEarlier();
    else this.checkpoint = await readCheckpoint(this.path);
    this.#latest = this.checkpoint;
    this.resumable = this.checkpoint !== null;
    const isKept = (name: string): boolean =>
      name === begunName ||
      (name === earlierName
        ? awaited && (this.resumable || this.earlier !== null)
        : this.resumable);
    await this.#files.remove(found.filter((name) => !isKept(name)));
  }

  /** The discarded run; null for none. @throws as `readCheckpoint` */
  async #readEarlier(): Promise<EarlierRun | null> {
    const journalPath = join(this.path, earlierName);
    const checkpoint = await readCheckpoint(journalPath);
    return checkpoint === null ? null : { journalPath, checkpoint };
  }

  /** Notes the files that a new run is about to write elsewhere. */
  noteFiles(files: readonly string[]): Promise<void> {
    return this.#files.note(files);
  }

  /** The run produced nothing worth resuming. */
  forget(): void {
    this.resumable = false;
  }

  async save(next: ResumePoint): Promise<void> {
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

  /** Whether it is as it was found, with the answers of an interrupted run. */
  get canRewind(): boolean {
    const isAsFound = this.checkpoint !== null && this.#latest === this.checkpoint;
    return isAsFound && existsSync(join(this.path, "journal"));
  }

  /** Lets the run write its rows again, from the first one, with the answers that it has. */
  async rewind(): Promise<void> {
    if (this.checkpoint === null) return;
    const again = fromFirstRow(this.checkpoint);
    await this.save(again);
    await rm(join(this.path, markName), { force: true });
    this.checkpoint = again;
    this.finished = null;
  }

  /** Discards the run except for its answers, which the next run takes over. */
  async startOver(): Promise<void> {
    if (this.#latest !== null) await this.#files.keepJournal(this.#latest);
    await this.tidy(earlierName, begunName);
    await rm(join(this.path, markName), { force: true });
    this.earlier = await this.#readEarlier();
    this.checkpoint = null;
    this.finished = null;
    this.#latest = null;
    this.resumable = false;
  }

  /**
   * Keeps the answers of a run whose folder was removed meanwhile, for the next one.
   *
   * @returns the error that says so; null if the folder is there
   */
  async saveRemoved(journal: RunJournal): Promise<FatalError | null> {
    const latest = this.#latest;
    if (latest === null || existsSync(this.path)) return null;
    const earlier = join(this.path, earlierName);
    const isSaved = await journal.saveRemoved(earlier);
    if (isSaved) await writeSealed(join(earlier, checkpointName), latest);
    const [what, hint] = isSaved
      ? ["removed during the run; its answers are saved there again", ""]
      : ["moved during the run", "move it back, then "];
    return new FatalError("state_removed", `${this.path} was ${what}`, {
      hint: `${hint}${continueRun}`,
    });
  }

  /** Removes everything except the mark of a finished run, the lock, and entries that are `kept`. */
  async tidy(...kept: readonly string[]): Promise<void> {
    const names = await this.#files.list();
    await this.#files.remove(names.filter((name) => name !== markName && !kept.includes(name)));
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
    this.#files.removeFolder();
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
    const ours = await this.#files.list().catch(() => null);
    if (ours === null) return this.#files.removeAll();
    const gone = doneName(this.path);
    await rename(this.path, gone).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    await new StateFiles(gone).removeAll();
  }
}

function refusal(name: string, folder: string): UsageError {
  return new UsageError("state_exists", `an interrupted run of ${name} exists (${folder})`, {
    hint: `continue it with --resume, or ${startOver}`,
  });
}
