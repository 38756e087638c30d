import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { userStateFolder } from "../../core/files/folders.js";
import type { OptionalColumns } from "../../core/columns.js";
import type { NameParts, RunStart } from "../../core/files/output-names.js";
import type { Manifest } from "../../core/manifest.js";
import type { OutputRecord } from "../formats/types.js";
import type { Publisher, PublisherOptions } from "./publisher.js";
import type { ColumnRules } from "./typed/table-schema.js";

/** What `-o`, or the operand of a command that reads outputs, names. `parseOutput` makes it. */
export interface Output {
  /** As it was given. It may hold a password. */
  readonly given: string;
  /** For messages and the manifest, without a password. */
  readonly name: string;
  /** The format of its rows; null where the name does not tell. */
  readonly format: string | null;
  readonly gzip: boolean;
  readonly isStdout: boolean;
  /** Its rows are text, of which `--to` may name the format. */
  readonly isText: boolean;
  /** A table of a database. Rows of other runs may be in it. */
  readonly isTable: boolean;
  /** The rules of its typed columns; null for text. */
  readonly rules: ColumnRules | null;
  /** The file that appears under its name, symbolic links resolved; null for anything else. */
  readonly file: string | null;
  /** The file of the database that it is in; null for a server, and for what is no table. */
  readonly database: string | null;
  /** Where it is in object storage, to which `file` is uploaded; null for anything else. */
  readonly object: ObjectFile | null;
  /** The run whose rows are meant: `run=ID` of a table that is read. Null for the newest. */
  readonly run: string | null;
  /** The output with the words that stand for a run, if this one is named after a run. */
  readonly pattern: Output | null;
  readonly parts: NameParts;
  /**
   * Path from which the names of state and manifest derive. With words that stand for a run, that of
   * all runs.
   *
   * @param stateDir the folder of `--state-dir`, for what has no file of its own
   */
  readonly base: (stateDir?: string) => string;
  /** The output of a run: with its date for `{date}`, and its identifier for `{run_id}`. */
  readonly named: (run: RunStart) => Output;
  /** Opens it for the rows of a run. */
  readonly publisher: (options: PublisherOptions) => Promise<Publisher>;
  /** Records in a table of runs what has become of one since; absent for anything else. */
  readonly record?: (manifest: Manifest) => Promise<void>;
  /** Opens the rows of a run in a table; null for anything else. */
  readonly records: ((rows: RunRows) => Promise<TableRecords>) | null;
}

/** An object, and the local file that is uploaded to it. */
export interface ObjectFile {
  readonly address: string;
  readonly path: string;
  readonly folder: string;
}

export interface RunRows {
  /** Null for the newest run. */
  readonly runId: string | null;
  readonly prefix: string;
  /** Added columns to read, without the prefix. @default all, and the table's own */
  readonly only?: readonly string[] | undefined;
}

export interface TableRecords {
  /** The run whose rows they are, of a table. */
  readonly runId?: string;
  /** The input's own columns; none for NDJSON, whose records bring their members. */
  readonly columns: readonly string[];
  readonly records: AsyncIterable<readonly OutputRecord[]>;
  readonly optional: OptionalColumns;
}

/** What a kind of place knows of an output. */
export type KindOutput = Pick<Output, "name" | "format" | "file" | "base" | "publisher"> &
  Partial<Omit<Output, "given" | "isTable" | "run" | "pattern" | "named">>;

/** Parses the name of an output of one kind; null for any other. @throws UsageError */
export type ParseKind = (name: string) => KindOutput | null;

/** An output whose rows are in a file on this machine, with its manifest beside it. */
export function inFile(output: Output, file: string): Output {
  return { ...output, given: file, name: file, file, object: null, base: () => file };
}

/** A file name for a text. A hash keeps texts apart whose characters were replaced. */
export function fileWord(text: string): string {
  const word = text.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 120);
  if (word === text) return word;
  return `${word}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
}

/**
 * The base of an output on a server: in the folder of states, else in the working folder.
 *
 * @param place names it among others
 */
export function serverBase(place: string, stateDir: string | undefined): string {
  const name = `repute-${fileWord(place)}`;
  if (stateDir !== undefined) return join(resolve(stateDir), name);
  const folder = userStateFolder(process.env);
  return folder === null ? resolve(name) : join(folder, name);
}
