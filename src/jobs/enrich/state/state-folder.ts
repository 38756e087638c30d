import { existsSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { continueRun, FatalError, startOver, UsageError } from "../../../core/errors.js";
import { makeFolder, privateFolder } from "../../../core/files/folders.js";
import { outputFault } from "../../../core/files/output-fault.js";
import type { Manifest } from "../../../core/manifest.js";
import { counted } from "../../../core/wording/quantity.js";
import { removePart } from "../../../io/output/part-file.js";
import { checkResume } from "../options.js";
import {
  databaseName,
  type FinishedRun,
  fromFirstRow,
  type ResumePoint,
  statePath,
} from "./checkpoint.js";
import { factNames, RunDatabase } from "./run-database.js";

/** Files and folders that a run keeps beside its database. Anything else in their folder is left alone. */
const own = new RegExp(
  `^(?:${[
    String.raw`run\.db\.(?:new|damaged)(?:-wal|-journal|-shm)?`,
    String.raw`manifest\.json(?:\.new)?`,
    String.raw`(?:input-\d+/)?(?:input\.[\w.]+|copied\.json)(?:\.new)?`,
    String.raw`rows\.part|input-\d+/`,
  ].join("|")})$`,
);

interface StateOptions {
  readonly resume: boolean;
  readonly restart: boolean;
  readonly name?: string;
  /** The folder that the state is in, if it is removed with it. */
  readonly within?: string | undefined;
  readonly onNotice?: ((message: string) => void) | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Opens and locks the state of an output's run.
 *
 * @param output path from which the folder's name derives
 * @param options.name name of the output in messages; by default its path
 * @param discard called on a restart to remove what the interrupted run left elsewhere
 * @throws UsageError `state_exists` if there is an interrupted run and neither flag is set,
 *   `output_locked` if a run is in progress, `state_no_folder`; FatalError `state_damaged`
 */
export async function openStateFolder(
  output: string,
  { resume, restart, name = output, within, onNotice, onWarning }: StateOptions,
  discard: () => Promise<void> = () => Promise.resolve(),
): Promise<StateFolder> {
  const folder = statePath(output);
  checkResume({ resume, restart });
  const mark = `${within ?? folder}.finished`;
  const facts = await lstat(folder).catch(() => null);
  if (facts?.isDirectory() === false) {
    const what = facts.isSymbolicLink() ? "a symbolic link" : "not a folder";
    throw new UsageError("state_no_folder", `${folder} is ${what}`, {
      hint: "the run needs this name for its state: move it elsewhere, or write to another output",
    });
  }
  try {
    await mkdir(folder, privateFolder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    // Left by a run that was killed as it removed its state.
    if (existsSync(mark)) await rename(mark, join(folder, databaseName));
  } catch (error) {
    throw outputFault(folder, error);
  }
  const kept = restart ? await (await import("./salvage.js")).salvage(folder) : null;
  if (kept !== null) onNotice?.(`${folder} was damaged; ${counted(kept, "answer")} could be read`);
  const database = await RunDatabase.open(join(folder, databaseName), onWarning);
  try {
    const state = new StateFolder(folder, database, mark);
    const isEmpty = database.isEmpty && (await leftIn(folder)).length === 0;
    if (!isEmpty && !resume && !restart) throw refusal(name, folder);
    if (restart) {
      // Discard first: until that is done, the folder tells what is left to discard.
      await discard();
      await state.startOver(kept !== null);
    } else if (!isEmpty) await state.read();
    return state;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The state of a run, in a folder beside a growing output. */
export class StateFolder {
  readonly path: string;
  readonly database: RunDatabase;
  /** Progress of the interrupted run; null for a new run. */
  checkpoint: ResumePoint | null = null;
  /** A run that was killed after its rows were complete; null if there is none to resume. */
  finished: FinishedRun | null = null;
  /** True if the folder holds something to resume. */
  resumable = false;
  /** Where the database is while the folder is removed. */
  readonly #mark: string;
  /** The latest checkpoint; null before the first one. */
  #latest: ResumePoint | null = null;

  constructor(path: string, database: RunDatabase, mark: string) {
    this.path = path;
    this.database = database;
    this.#mark = mark;
  }

  /** Reads what an interrupted run left, and removes what belongs to no known run. */
  async read(): Promise<void> {
    this.database.check();
    this.finished = this.database.read("finished");
    this.checkpoint = this.finished?.checkpoint ?? this.database.read("checkpoint");
    this.#latest = this.checkpoint;
    this.resumable = this.checkpoint !== null;
    if (!this.resumable) await this.tidy();
  }

  /** Notes a file that a new run is about to write elsewhere, and removes that of an earlier one. */
  async note(file: string): Promise<void> {
    await this.#removeNoted();
    this.database.commit(() => this.database.write("files", { file }));
  }

  async #removeNoted(): Promise<void> {
    const noted = this.database.read("files");
    if (noted !== null) await removePart(noted.file);
  }

  /** Saves a checkpoint, with the answers that it relies on. What it names must be on disk. */
  async save(next: ResumePoint): Promise<void> {
    // SQLite would go on with a file that was removed.
    if (!existsSync(this.database.path)) {
      throw outputFault(this.path, Object.assign(new Error("removed"), { code: "ENOENT" }));
    }
    this.#write(next, null);
    await this.database.sync();
  }

  #write(checkpoint: ResumePoint, finished: FinishedRun | null): void {
    const { database } = this;
    database.commit(() => {
      if (this.#latest === null) database.write("service", serviceOf(checkpoint));
      database.write("checkpoint", checkpoint);
      database.write("finished", finished);
    });
    this.#latest = checkpoint;
    this.resumable = true;
  }

  /** Records that the rows are complete: from here on, a resume publishes and looks nothing up. */
  async markFinished(finished: FinishedRun): Promise<void> {
    this.#write(finished.checkpoint, finished);
    this.finished = finished;
    await this.database.sync();
  }

  /** Records that everything is published: from here on, a resume only removes what is left. */
  async markPublished(manifest: Manifest): Promise<void> {
    if (this.finished === null || this.finished.published === true) return;
    await this.markFinished({ ...this.finished, manifest, published: true });
  }

  /** Whether it is as it was found, with the answers of an interrupted run. */
  get canRewind(): boolean {
    return this.checkpoint !== null && this.#latest === this.checkpoint;
  }

  /** Lets the run write its rows again, from the first one, with the answers that it has. */
  rewind(): void {
    if (this.checkpoint === null) return;
    this.checkpoint = fromFirstRow(this.checkpoint);
    this.#write(this.checkpoint, null);
    this.finished = null;
  }

  /** Forgets the run. @param keepsAnswers for the next one, which takes them over */
  async startOver(keepsAnswers = true): Promise<void> {
    await this.#removeNoted();
    this.database.forget(keepsAnswers ? ["checkpoint", "finished"] : factNames, keepsAnswers);
    await this.tidy();
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
  async saveRemoved(): Promise<FatalError | null> {
    const { path, database } = this;
    if (this.#latest === null || existsSync(database.path)) return null;
    if (!(await database.isRemoved())) {
      return new FatalError("state_removed", `${path} was moved during the run`, {
        hint: `move it back, then ${continueRun}`,
      });
    }
    makeFolder(path, 0o700);
    database.commit(() => database.write("checkpoint", null));
    database.copyTo(database.path);
    const message = `${path} was removed during the run; its answers are saved there again`;
    return new FatalError("state_removed", message, { hint: continueRun });
  }

  /** Removes everything except the database. */
  async tidy(): Promise<void> {
    for (const path of await leftIn(this.path)) {
      if (path.endsWith("/")) removeEmpty(join(this.path, path));
      else await rm(join(this.path, path), { force: true });
    }
  }

  /** Gives up the lock, and leaves the rest for `--resume`. */
  release(): void {
    this.database.close();
  }

  /**
   * Removes what is left of a finished run. Synchronous, as the last step before the process exits.
   *
   * @param before removes the folder that the state is in
   */
  removeLast(before: () => void = () => undefined): void {
    this.database.close();
    if (existsSync(this.database.path)) renameSync(this.database.path, this.#mark);
    removeEmpty(this.path);
    before();
    // The last step, and atomic: until here, a resume finds the finished run.
    rmSync(this.#mark, { force: true });
  }

  /**
   * Removes the state of a run that produced nothing worth resuming. Answers that it has taken over
   * stay for the next run.
   */
  async remove(): Promise<void> {
    const taken = this.#latest === null ? this.database.answers : this.#latest.answers.earlier;
    if (taken > 0) {
      await this.startOver();
      return this.release();
    }
    await this.tidy();
    this.removeLast();
  }
}

/** The service that answers are from. */
export function serviceOf({ fingerprint }: Pick<ResumePoint, "fingerprint">): {
  readonly name: string;
} {
  return { name: String(fingerprint.options["intel-url"]) };
}

/**
 * What a run has left beside its database, by paths in its folder. Those of folders end with a slash,
 * and follow what is in them.
 */
async function leftIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.map(
      (entry) =>
        relative(folder, join(entry.parentPath, entry.name)) + (entry.isDirectory() ? "/" : ""),
    );
    return paths
      .filter((path) => own.test(path))
      .toSorted()
      .toReversed();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw outputFault(folder, error);
  }
}

/** Removes a folder unless something is in it. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "ENOENT") throw error;
  }
}

function refusal(name: string, folder: string): UsageError {
  return new UsageError("state_exists", `an interrupted run of ${name} exists (${folder})`, {
    hint: `continue it with --resume, or ${startOver}`,
  });
}
