import { existsSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError, startOver } from "../../core/errors.js";
import { replaceFile, sealJson } from "../../core/files/json-file.js";
import { sweepLocks, takeLock } from "../../core/files/run-lock.js";
import { outputFault } from "../../outputs/output-fault.js";
import { type Checkpoint, checkpointVersion } from "./checkpointer.js";
import type { FinishedRun } from "../finish/finished-run.js";
import type { Manifest } from "../types.js";
import { saveUnfinished } from "./unfinished-record.js";
import {
  belongsToRun,
  checkpointName,
  listState,
  markName,
  readAnyCheckpoint,
  readCheckpoint,
  readMark,
  removeEntries,
  refuseWorkers,
  removeState,
} from "./read-checkpoint.js";

/** A checkpoint that another version may have written: any member may be missing. */
export type AnyCheckpoint = Partial<Checkpoint>;

/** The interrupted run that a restart discards. */
export interface FoundRun {
  /** Null if it cannot be read. */
  readonly checkpoint: AnyCheckpoint | null;
  /** All its rows were written; only publishing was left. */
  readonly finished: boolean;
}

export interface StateOptions {
  readonly resume: boolean;
  readonly restart: boolean;
  readonly name?: string;
}

/** Folder beside an output that holds the state of its run. */
export function statePath(output: string): string {
  return `${output.replace(/\/$/, "")}.state`;
}

/** @throws UsageError `resume_or_restart` if both flags are set */
export function checkResume({ resume, restart }: Pick<StateOptions, "resume" | "restart">): void {
  if (!resume || !restart) return;
  throw new UsageError(
    "resume_or_restart",
    "--resume and --restart exclude each other: give one of them",
  );
}

/**
 * Opens and locks the state of an output's run.
 *
 * @param output path from which the folder's name derives
 * @param options.name name of the output in messages; by default its path
 * @param discard called on a restart to remove what the interrupted run left elsewhere
 * @throws UsageError `state_exists` if there is an interrupted run and neither flag is set,
 *   `output_locked` if a run is in progress
 */
export async function openStateFolder(
  output: string,
  { resume, restart, name = output }: StateOptions,
  discard: (found: FoundRun) => Promise<void> = () => Promise.resolve(),
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
    const mark = markBeside(folder);
    if (existsSync(mark)) await rename(mark, join(folder, markName));
    const found = (await listState(folder)).filter(belongsToRun);
    if (found.length > 0 && !resume && !restart) throw refusal(name, folder);
    if (!restart) refuseWorkers(found, name);
    if (restart) {
      const finished = found.includes(markName);
      // Discard first: until that is done, the folder tells what is left to discard.
      if (finished || found.includes(checkpointName)) {
        await discard({ checkpoint: await readAnyCheckpoint(folder), finished });
      }
      await removeEntries(folder, found);
    }
    const finished = resume ? await readMark(folder) : null;
    const checkpoint = finished?.checkpoint ?? (resume ? await readCheckpoint(folder) : null);
    // Killed before its first checkpoint: the other files belong to no known run.
    if (resume && checkpoint === null) await removeEntries(folder, found);
    return new StateFolder(folder, checkpoint, finished, release);
  } catch (error) {
    await release();
    throw error;
  }
}

/** State kept beside a growing output: checkpoint, journal and lock. */
export class StateFolder {
  readonly path: string;
  /** Folder of the lookup journal. */
  readonly journalPath: string;
  /** Progress of the interrupted run; null for a new run. */
  checkpoint: Checkpoint | null;
  /** A run that was killed after its rows were complete; null if there is none to resume. */
  finished: FinishedRun | null;
  /** True if the folder holds something to resume. */
  resumable: boolean;
  /** Releases the lock and leaves the rest for `--resume`. */
  readonly release: () => Promise<void>;

  constructor(
    folder: string,
    checkpoint: Checkpoint | null,
    finished: FinishedRun | null,
    release: () => Promise<void>,
  ) {
    this.path = folder;
    this.journalPath = join(folder, "journal");
    this.checkpoint = checkpoint;
    this.finished = finished;
    this.resumable = checkpoint !== null;
    this.release = release;
  }

  /** The run produced nothing worth resuming. */
  forget(): void {
    this.resumable = false;
  }

  async save(next: Checkpoint): Promise<void> {
    await this.#write(checkpointName, next);
    this.resumable = true;
  }

  /** Saves the manifest of the unfinished run. */
  saveRecord(record: Manifest): Promise<void> {
    return saveUnfinished(this.path, record);
  }

  /** Records that the rows are complete: from here on, a resume publishes and looks nothing up. */
  async markFinished(finished: FinishedRun): Promise<void> {
    await this.#write(markName, { version: checkpointVersion, ...finished });
  }

  /** Removes the earlier run's state, so that a new run can start. */
  async startOver(): Promise<void> {
    await this.tidy();
    await rm(join(this.path, markName), { force: true });
    this.checkpoint = null;
    this.finished = null;
    this.resumable = false;
  }

  /** Removes everything except the mark of a finished run and the lock. */
  async tidy(): Promise<void> {
    await sweepLocks(join(this.path, "lock"));
    const names = (await listState(this.path)).filter(belongsToRun);
    await removeEntries(
      this.path,
      names.filter((name) => name !== markName),
    );
  }

  /** Removes the mark and the lock. Synchronous, as the last step before the process exits. */
  removeMark(): void {
    const mark = markBeside(this.path);
    renameSync(join(this.path, markName), mark);
    // `release` gives up the lock synchronously, before it returns its promise.
    void this.release().catch(() => undefined);
    removeEmptyFolder(this.path);
    // The last step, and atomic: until here, a resume finds the mark.
    rmSync(mark);
  }

  /** Removes the folder of a run that produced nothing worth resuming. */
  async remove(): Promise<void> {
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

  async #write(name: string, value: object): Promise<void> {
    const path = join(this.path, name);
    try {
      await replaceFile(path, `${sealJson(value)}\n`, 0o600);
    } catch (error) {
      throw outputFault(path, error);
    }
  }
}

/** Where the mark of a finished run is kept while its folder is removed. */
function markBeside(folder: string): string {
  return `${folder}.finished`;
}

/** Removes the folder unless it holds foreign files. */
function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}

async function lockFolder(folder: string): Promise<() => Promise<void>> {
  try {
    if (!existsSync(folder)) await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw outputFault(folder, error);
  }
  try {
    return await takeLock(join(folder, "lock"));
  } catch (error) {
    throw error instanceof UsageError ? error : outputFault(folder, error);
  }
}

function refusal(name: string, folder: string): UsageError {
  return new UsageError("state_exists", `an interrupted run of ${name} exists (${folder})`, {
    hint: `continue it with --resume, or ${startOver}`,
  });
}
