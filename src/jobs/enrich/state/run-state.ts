import { existsSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Journal } from "../../../client/store/journal.js";
import { serviceAddress } from "../../../client/api/options.js";
import { explainFault, SqliteFile } from "../../../client/store/sqlite-file.js";
import { continueRun, FatalError } from "../../../core/errors.js";
import { makeFolder } from "../../../core/files/folders.js";
import { outputFault } from "../../../core/files/system-fault.js";
import { outputLocked } from "../../../core/files/run-lock.js";
import type { Manifest } from "../../../core/manifest.js";
import type { CopySeal } from "../../../io/input/copies.js";
import type { SourcePosition } from "../../../io/input/types.js";
import type { ReplacedObject } from "../../../io/output/object/publish.js";
import { removePart, type SinkPosition } from "../../../io/output/part-file.js";
import type { Fingerprint } from "../fingerprint.js";
import { Tally, type TallySnapshot } from "../tally.js";
import { databaseName, stateFault } from "./state-folder.js";

/** Progress of a run: enough to continue it in another process. */
export interface Checkpoint {
  readonly runId: string;
  /** Start of the run, RFC 3339 UTC. */
  readonly startedAt: string;
  /** Duration so far in seconds, over all its processes. */
  readonly seconds: number;
  /** Number of times the run was resumed. */
  readonly resumed: number;
  readonly fingerprint: Fingerprint;
  /** How the input is read, and how many of its rows are written. */
  readonly source: SourcePosition;
  /** Null if its rows are to be written again. */
  readonly sink: SinkPosition | null;
  /** Number of the latest answer that is stored, and of the latest one of an earlier run; 0 for none. */
  readonly answers: { readonly last: number; readonly earlier: number };
  readonly tally: TallySnapshot;
}

/** What a run relies on, besides its answers. */
interface Facts {
  /** Address of the service that the answers are from. */
  readonly service: string | null;
  /** Its progress, as of a run that is finished. */
  readonly checkpoint: Checkpoint | null;
  /**
   * Set once its rows are written and verified, so that only publishing is left; once it is published,
   * removing the local files. Saved before the first file gets its final name, and removed as the last
   * step before the process exits. A `--resume` that finds it repeats the publishing, which is idempotent.
   */
  readonly finished: { readonly manifest: Manifest; readonly isPublished: boolean } | null;
  /** The file that it writes, where another run of the same state writes another one. */
  readonly file: string | null;
  /** The object that it replaces. */
  readonly replaced: ReplacedObject | null;
  /** The copies of its inputs. */
  readonly copies: readonly CopySeal[] | null;
}

const none: Facts = {
  service: null,
  checkpoint: null,
  finished: null,
  file: null,
  replaced: null,
  copies: null,
};

/**
 * What must survive of a run, in a folder beside its growing output: a database with its answers and
 * facts, copies of inputs, staged rows. Only one process has the database open at a time: this is the
 * lock of the run, which the system frees when the process dies.
 */
export class RunState {
  readonly path: string;
  /** The answers of the run. */
  readonly journal: Journal;
  /** Progress of the interrupted run; null for a new run. */
  checkpoint: Checkpoint | null = null;
  /** Number of the latest answer of an earlier run; 0 for none. */
  earlier = 0;
  /** True if the folder holds something to resume. */
  resumable = false;
  /** What is stored. */
  facts: Facts;
  readonly #file: SqliteFile;
  readonly #mark: string;

  private constructor(path: string, file: SqliteFile, mark: string) {
    this.path = path;
    this.#file = file;
    this.#mark = mark;
    const facts = Object.keys(none).map((name) => [name, file.read(name)]);
    this.facts = Object.fromEntries(facts) as Facts;
    this.journal = new Journal(file, { fault: (error) => stateFault(file.path, error) });
    this.#takeUp();
  }

  /**
   * Opens the database in a folder, creating it if missing, and reads what an interrupted run left. Warns
   * if its log is damaged: SQLite silently drops everything after that place.
   *
   * @param mark where the database is while its folder is removed. @default none: the run is not resumed
   * @param checksAnswers whether to check each answer now, not when it is read
   * @throws UsageError `output_locked`, `state_version`; FatalError `state_damaged`, `output_*`
   */
  static open(
    folder: string,
    mark = "",
    checksAnswers = false,
    onWarning?: (message: string) => void,
  ): RunState {
    const path = join(folder, databaseName);
    for (;;) {
      let file: SqliteFile | null = null;
      try {
        file = SqliteFile.open(path, "run");
        const damage = file.damageOfLog();
        if (damage !== null) onWarning?.(`${damage}: the answers stored after it are asked again`);
        file.check();
        // It may have been removed before it was locked, and another one be there.
        if (file.isInPlace) {
          const state = new RunState(folder, file, mark);
          if (checksAnswers) for (const _answer of state.journal.replay());
          return state;
        }
      } catch (error) {
        file?.close();
        throw explainFault(path, error).kind === "busy" ? outputLocked() : stateFault(path, error);
      }
      file.close();
    }
  }

  /** Continues the run that is there, or takes its answers for those of an earlier one. */
  #takeUp(): void {
    this.checkpoint = this.facts.checkpoint;
    this.earlier = this.checkpoint?.answers.earlier ?? this.journal.last;
    this.resumable = this.checkpoint !== null;
  }

  /** Whether the run can be resumed. */
  get isKept(): boolean {
    return this.#mark !== "";
  }

  /** Whether no run has left anything. */
  async isEmpty(): Promise<boolean> {
    const isBlank = this.journal.last === 0 && !this.resumable;
    return isBlank && (await this.#filesLeft()).length === 0;
  }

  /** Whether the answers are of the service at this address. */
  isOf(service: string): boolean {
    return serviceAddress(this.facts.service ?? "") === serviceAddress(service);
  }

  /** Writes facts, with the answers so far or with none. @throws FatalError */
  #write(facts: Partial<Facts>, keepsAnswers = true): void {
    this.journal.flush();
    const write = (): void => {
      if (!keepsAnswers) this.journal.clear();
      this.#file.write(facts);
    };
    this.#try(() => this.#file.transact(write));
    this.facts = { ...this.facts, ...facts };
  }

  /** Resolves once what was written survives a power loss. @throws FatalError */
  async #sync(): Promise<void> {
    try {
      // SQLite syncs its log only as that moves into the file, and would block this thread.
      await using log = await open(`${this.#file.path}-wal`, "r");
      await log.datasync();
    } catch (error) {
      // Its folder may be gone; the next step of the run says so.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw this.journal.fail(error);
    }
  }

  /** Notes what the run is about to write. @throws FatalError */
  note(notes: Partial<Pick<Facts, "file" | "replaced" | "copies">>): void {
    this.#write(notes);
  }

  /** Saves a checkpoint, with the answers that it relies on. What it names must be on disk. */
  async save(checkpoint: Checkpoint): Promise<void> {
    // SQLite would go on with a file that was removed.
    if (!existsSync(this.#file.path)) {
      throw outputFault(this.path, Object.assign(new Error("removed"), { code: "ENOENT" }));
    }
    const service = String(checkpoint.fingerprint.options["intel-url"]);
    this.#write({ service, checkpoint, finished: null });
    this.resumable = true;
    await this.#sync();
  }

  /**
   * Records that the rows up to the last checkpoint are complete: from here on, a resume looks nothing up.
   *
   * @param isPublished whether it only removes what is left
   */
  async finish(manifest: Manifest, isPublished = false): Promise<void> {
    if (!this.isKept || this.facts.finished?.isPublished === true) return;
    this.#write({ finished: { manifest, isPublished } });
    await this.#sync();
  }

  /**
   * Lets an interrupted run write its rows again, from the first one, with the answers that it has.
   *
   * @returns false without one, or if it has gone on since
   */
  rewind(): boolean {
    const { checkpoint } = this;
    if (checkpoint === null || checkpoint !== this.facts.checkpoint) return false;
    const { unjournalled, took_over, synthetic, sample } = checkpoint.tally;
    const tally = new Tally({ unjournalled, took_over, synthetic, sample }).snapshot();
    const source = { ...checkpoint.source, row: 0 };
    this.checkpoint = { ...checkpoint, source, sink: null, tally };
    this.#write({ checkpoint: this.checkpoint, finished: null });
    return true;
  }

  /** Forgets the run, and removes its files. @param keepsAnswers for the next one, which takes them over */
  async startOver(keepsAnswers = true): Promise<void> {
    const { file } = this.facts;
    if (file !== null) await removePart(file);
    this.#write({ ...none, service: this.facts.service }, keepsAnswers);
    await this.tidy();
    this.#takeUp();
  }

  /**
   * Keeps the answers of a run whose folder was removed or moved meanwhile, for the next one.
   *
   * @returns the error that says so; null if the folder is there
   */
  saveRemoved(): FatalError | null {
    const { path } = this;
    const file = this.#file;
    if (this.facts.checkpoint === null || existsSync(file.path)) return null;
    makeFolder(path, 0o700);
    this.#write({ checkpoint: null });
    this.#try(() => file.copyTo(file.path));
    const message = `${path} was removed during the run; its answers are saved there again`;
    return new FatalError("state_removed", message, { hint: continueRun });
  }

  /** Removes everything in its folder except the database. */
  async tidy(): Promise<void> {
    for (const name of await this.#filesLeft()) await rm(join(this.path, name), { force: true });
  }

  /** The files that a run has left beside its database. */
  async #filesLeft(): Promise<readonly string[]> {
    try {
      return (await readdir(this.path)).filter((name) => own.test(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw outputFault(this.path, error);
    }
  }

  /** Stores what can be stored, gives up the lock, and leaves the rest for `--resume`. */
  release(): void {
    try {
      this.journal.flush();
    } catch {
      // What is not stored is asked again.
    }
    this.#file.close();
  }

  /**
   * Removes what is left of a finished run. Synchronous, as the last step before the process exits.
   *
   * @param before removes the folder that the state is in
   */
  removeLast(before: () => void = () => undefined): void {
    this.release();
    if (existsSync(this.#file.path)) renameSync(this.#file.path, this.#mark);
    try {
      rmdirSync(this.path);
    } catch {
      // Something else is in it, or it is gone.
    }
    before();
    // The last step, and atomic: until here, a resume finds the finished run.
    rmSync(this.#mark, { force: true });
  }

  /**
   * Removes the state of a run that produced nothing worth resuming. Answers that it has taken over
   * stay for the next run.
   */
  async remove(): Promise<void> {
    if (this.earlier > 0) {
      await this.startOver();
      return this.release();
    }
    await this.tidy();
    this.removeLast();
  }

  #try<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.journal.fail(error);
    }
  }
}

/** Files that a run keeps beside its database. Anything else in their folder is left alone. */
const own = /^(?:run\.db\.[\w.-]+|rows\.part|manifest\.json(?:\.new)?|input(?:-\d+)?\.[\w.]+)$/;
