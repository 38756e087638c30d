import { constants, copyFileSync, existsSync, lstatSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { AnswerTable, storedRecord } from "../../../client/store/answer-table.js";
import { Journal } from "../../../client/store/journal.js";
import { SqliteFile } from "../../../client/store/sqlite-file.js";
import { ReputeError, startOver, UsageError } from "../../../core/errors.js";
import { makeFolder } from "../../../core/files/folders.js";
import { outputFault } from "../../../core/files/system-fault.js";
import { counted } from "../../../core/wording/quantity.js";
import { RunState } from "./run-state.js";
import { databaseName, stateFault, statePath } from "./state-folder.js";

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
 * @throws UsageError `resume_or_restart` for both flags, `state_exists` if there is an interrupted run and neither flag is set,
 *   `output_locked` if a run is in progress, `state_no_folder`, `state_version`; FatalError
 *   `state_damaged`
 */
export async function openState(
  output: string,
  { resume, restart, name = output, within, onNotice, onWarning }: StateOptions,
): Promise<RunState> {
  const folder = statePath(output);
  if (resume && restart) {
    const message = "--resume and --restart exclude each other: give one of them";
    throw new UsageError("resume_or_restart", message);
  }
  const mark = `${within ?? folder}.finished`;
  makeStateFolder(folder, mark);
  const openIt = () => RunState.open(folder, mark, restart, onWarning);
  const { state, kept } = restart
    ? await openAnyway(join(folder, databaseName), openIt)
    : { state: openIt(), kept: null };
  try {
    if (kept !== null)
      onNotice?.(`${folder} was damaged; ${counted(kept, "answer")} could be read`);
    if (!resume && !restart && !(await state.isEmpty())) {
      throw new UsageError("state_exists", `an interrupted run of ${name} exists (${folder})`, {
        hint: `continue it with --resume, or ${startOver}`,
      });
    }
    if (restart || !state.resumable) await state.startOver(!restart || kept !== null);
    return state;
  } catch (error) {
    state.release();
    throw error;
  }
}

/**
 * Creates the folder of a state.
 *
 * @param mark where the database of a run is while it removes its folder
 * @throws UsageError `state_no_folder`; FatalError `output_*`
 */
function makeStateFolder(folder: string, mark: string): void {
  const facts = lstatSync(folder, { throwIfNoEntry: false });
  if (facts?.isDirectory() === false) {
    const what = facts.isSymbolicLink() ? "a symbolic link" : "not a folder";
    throw new UsageError("state_no_folder", `${folder} is ${what}`, {
      hint: "the run needs this name for its state: move it elsewhere, or write to another output",
    });
  }
  try {
    makeFolder(folder, 0o700);
    // Left by a run that was killed as it removed its state.
    if (existsSync(mark)) renameSync(mark, join(folder, databaseName));
  } catch (error) {
    throw outputFault(folder, error);
  }
}

/** Opens a state even if it is damaged: then with the answers that can be read, `kept` of them. */
async function openAnyway(path: string, openIt: () => RunState) {
  try {
    return { state: openIt(), kept: null };
  } catch (error) {
    const code = error instanceof ReputeError ? error.code : null;
    if (code !== "state_version" && code !== "state_damaged") throw error;
    const kept = code === "state_damaged" ? await salvage(path) : null;
    if (kept === null) removeDatabase(path);
    return { state: openIt(), kept };
  }
}

/**
 * Replaces a damaged database by a new one with what can be read of it: its answers, and the service
 * they are from.
 *
 * @returns how many answers
 * @throws UsageError `output_locked`; FatalError `output_*`
 */
async function salvage(path: string): Promise<number> {
  const [fresh, copy] = [`${path}.new`, `${path}.old`];
  try {
    removeDatabase(fresh);
    // The driver may not have given up the file itself.
    for (const suffix of suffixes.filter((each) => existsSync(path + each))) {
      copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
    }
    await lengthen(copy);
    const count = copyAnswers(new SqliteFile(copy), SqliteFile.open(fresh, "run"));
    for (const suffix of suffixes.slice(1)) rmSync(path + suffix, { force: true });
    renameSync(fresh, path);
    removeDatabase(copy);
    return count;
  } catch (error) {
    throw stateFault(path, error);
  }
}

/** What SQLite appends to the name of a file for those beside it. */
const suffixes = ["", "-wal", "-shm", "-journal"];

function removeDatabase(path: string): void {
  for (const suffix of suffixes) rmSync(path + suffix, { force: true });
}

/** SQLite refuses to read a file that was cut off: gives it the length that its header names. */
async function lengthen(path: string): Promise<void> {
  await using file = await open(path, "r+");
  const { buffer: header } = await file.read(Buffer.alloc(100), 0, 100, 0);
  const length = header.readUInt16BE(16) * header.readUInt32BE(28);
  if (length > (await file.stat()).size && length < 2 ** 40) await file.truncate(length);
}

/** Answers in a row that cannot be read after which there are no others. */
const mostUnreadable = 10_000;

/** Copies the answers that can be read, whatever happened to those between them. */
function copyAnswers(from: SqliteFile, to: SqliteFile): number {
  const journal = new Journal(to, { fault: (error) => stateFault(to.path, error) });
  try {
    const service = attempt(() => from.read("service"));
    const table = service === null ? null : attempt(() => new AnswerTable(from));
    for (let [n, unreadable] = [1, 0]; unreadable < mostUnreadable; n++) {
      const answer = attempt(() => table?.byNumber(n) ?? null);
      unreadable = answer === null ? unreadable + 1 : 0;
      if (answer !== null) journal.put(answer.key, storedRecord(answer, { asReceived: true }));
    }
    to.write({ service });
    journal.flush();
    return journal.last;
  } finally {
    from.database.close();
    to.close();
  }
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
