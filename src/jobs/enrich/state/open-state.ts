import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  AnswerTable,
  storedRecord,
  type StoredAnswer,
} from "../../../client/store/answer-table.js";
import { Journal } from "../../../client/store/journal.js";
import { SqliteFile } from "../../../client/store/sqlite-file.js";
import { startOver, UsageError } from "../../../core/errors.js";
import { counted } from "../../../core/wording/quantity.js";
import { RunState } from "./run-state.js";
import {
  damageMark,
  databaseName,
  hasCode,
  makeStateFolder,
  stateFault,
  statePath,
  tidyFolder,
} from "./state-folder.js";

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
  await makeStateFolder(folder, mark);
  const open = () => RunState.open(folder, { mark, checks: !restart, onWarning });
  const { state, kept } = await (restart
    ? openAnyway(folder, open)
    : { state: open(), kept: null });
  try {
    if (kept !== null)
      onNotice?.(`${folder} was damaged; ${counted(kept, "answer")} could be read`);
    if (!resume && !restart && !(await state.isEmpty())) throw refusal(name, folder);
    if (restart) await state.startOver(kept !== null);
    else if (!state.resumable) await tidyFolder(folder);
    return state;
  } catch (error) {
    state.release();
    throw error;
  }
}

/** Opens a state even if it is damaged: then with the answers that can be read, `kept` of them. */
async function openAnyway(folder: string, open: () => RunState) {
  const path = join(folder, databaseName);
  let kept = existsSync(damageMark(folder)) ? await salvage(path) : null;
  try {
    return { state: open(), kept };
  } catch (error) {
    if (hasCode(error, "state_version")) removeDatabase(path);
    else if (kept === null && hasCode(error, "state_damaged")) kept = await salvage(path);
    else throw error;
    return { state: open(), kept };
  }
}

function refusal(name: string, folder: string): UsageError {
  return new UsageError("state_exists", `an interrupted run of ${name} exists (${folder})`, {
    hint: `continue it with --resume, or ${startOver}`,
  });
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
    lengthen(copy);
    const count = copyAnswers(new SqliteFile(copy), SqliteFile.open(fresh, "run"));
    for (const suffix of suffixes.slice(1)) rmSync(path + suffix, { force: true });
    renameSync(fresh, path);
    removeDatabase(copy);
    rmSync(damageMark(dirname(path)), { force: true });
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
function lengthen(path: string): void {
  const file = openSync(path, "r+");
  try {
    const header = Buffer.alloc(100);
    readSync(file, header, 0, 100, 0);
    const length = header.readUInt16BE(16) * header.readUInt32BE(28);
    if (length > fstatSync(file).size && length < 2 ** 40) ftruncateSync(file, length);
  } finally {
    closeSync(file);
  }
}

function copyAnswers(from: SqliteFile, to: SqliteFile): number {
  const journal = new Journal(to, { fault: (error) => stateFault(to.path, error) });
  try {
    const service = attempt(() => from.read("service"));
    for (const answer of service === null ? [] : readableAnswers(from)) {
      journal.put(answer.key, storedRecord(answer, { asReceived: true }));
    }
    to.write({ service });
    journal.flush();
    return journal.last;
  } finally {
    from.database.close();
    to.close();
  }
}

/** Answers in a row that cannot be read after which there are no others. */
const mostUnreadable = 10_000;

/** The answers that can be read, whatever happened to those between them. */
function* readableAnswers(file: SqliteFile): Generator<StoredAnswer> {
  const table = attempt(() => new AnswerTable(file));
  if (table === null) return;
  const last = attempt(() => Number(file.value("SELECT coalesce(max(n), 0) FROM answers")));
  for (let [n, unreadable] = [1, 0]; n <= (last ?? n) && unreadable < mostUnreadable; n++) {
    const found = attempt(() => table.byNumber(n));
    unreadable = found === null ? unreadable + 1 : 0;
    if (found !== null) yield found;
  }
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
