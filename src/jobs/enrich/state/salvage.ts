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
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import {
  AnswerTable,
  storedRecord,
  type StoredAnswer,
} from "../../../client/store/answer-table.js";
import { type Database, readFact } from "../../../client/store/database.js";
import { FatalError } from "../../../core/errors.js";
import { databaseName } from "./checkpoint.js";
import { factNames, RunDatabase, stateFault } from "./run-database.js";

/**
 * If the database in a folder is damaged, replaces it by a new one with what can be read of it: its
 * answers, and the service they are from.
 *
 * @returns how many answers; null if it is not damaged
 * @throws UsageError `output_locked`, `state_version`; FatalError `output_*`
 */
export async function salvage(folder: string): Promise<number | null> {
  const path = join(folder, databaseName);
  if (!existsSync(path) || (await isSound(path))) return null;
  const [fresh, copy] = [`${path}.new`, `${path}.damaged`];
  const suffixes = ["", "-wal", "-shm", "-journal"];
  const remove = (file: string): void => {
    for (const suffix of suffixes) rmSync(file + suffix, { force: true });
  };
  try {
    remove(fresh);
    // The driver may not have given up the file itself.
    for (const suffix of suffixes.filter((each) => existsSync(path + each))) {
      copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
    }
    lengthen(copy);
    const count = await copyAnswers(copy, fresh);
    for (const suffix of suffixes.slice(1)) rmSync(path + suffix, { force: true });
    renameSync(fresh, path);
    remove(copy);
    return count;
  } catch (error) {
    throw stateFault(path, error);
  }
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

async function isSound(path: string): Promise<boolean> {
  let run: RunDatabase | null = null;
  try {
    run = await RunDatabase.open(path);
    run.check();
    for (const name of factNames) run.read(name);
    for (const _ of run.openJournal({}).replay(run.answers));
    return true;
  } catch (error) {
    if (error instanceof FatalError && error.code === "state_damaged") return false;
    throw error;
  } finally {
    run?.close();
  }
}

async function copyAnswers(path: string, fresh: string): Promise<number> {
  const from = new DatabaseSync(path);
  const to = await RunDatabase.open(fresh);
  try {
    const journal = to.openJournal({});
    const service = attempt(() => readFact(from, "service") as { readonly name: string } | null);
    for (const answer of service === null ? [] : readableAnswers(from)) {
      journal.put(answer.key, storedRecord(answer, { asReceived: true }));
    }
    to.commit(() => to.write("service", service));
    return to.answers;
  } finally {
    from.close();
    to.close();
  }
}

/** Answers in a row that cannot be read after which there are no others. */
const mostUnreadable = 10_000;

/** The answers that can be read, whatever happened to those between them. */
function* readableAnswers(database: Database): Generator<StoredAnswer> {
  const table = attempt(() => new AnswerTable(database));
  if (table === null) return;
  const latest = "SELECT coalesce(max(n), 0) last FROM answers";
  const known = attempt(() => database.prepare(latest).get() as { readonly last: number });
  const last = known?.last ?? Number.POSITIVE_INFINITY;
  for (let [n, unreadable] = [1, 0]; n <= last && unreadable < mostUnreadable; n++) {
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
