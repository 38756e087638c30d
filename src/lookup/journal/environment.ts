import { type Database, open, type RootDatabase } from "lmdb";
import { FatalError } from "../../core/errors.js";
import { mapSize } from "../mapped-memory.js";

/** Counts up when what the files hold is laid out differently. */
const format = 3;

/** The parts of a journal's LMDB environment. */
export interface Environment {
  readonly root: RootDatabase;
  /** Number of a block → its records. */
  readonly records: Database<Buffer, number>;
  /** Number of a bucket → entries of the index. */
  readonly index: Database<Buffer, number>;
  /** What is known of both: `format`, `indexedThrough`. */
  readonly about: Database<number, string>;
}

/**
 * Opens the environment in a folder, a new one where there is none.
 *
 * @throws FatalError with code `journal_format` when another version of repute wrote it
 */
export function openEnvironment(folder: string): Environment {
  const root = open({
    path: folder,
    // Otherwise a folder whose name has a dot would be taken for a file.
    noSubdir: false,
    maxDbs: 3,
    mapSize,
  });
  const bytes = { encoding: "binary", keyEncoding: "uint32" } as const;
  const environment: Environment = {
    root,
    records: root.openDB<Buffer, number>({ name: "records", ...bytes }),
    index: root.openDB<Buffer, number>({ name: "index", ...bytes }),
    about: root.openDB<number, string>({ name: "about", encoding: "json" }),
  };
  const found = environment.about.get("format");
  if (found === format) return environment;
  if (found === undefined) {
    environment.about.putSync("format", format);
    return environment;
  }
  void root.close();
  throw new FatalError("journal_format", `another version of repute wrote the journal ${folder}`, {
    hint: "go on with that version, or begin anew with --restart",
  });
}

/** Why a transaction failed; LMDB tells it by a promise of its own. */
export async function causeOf(error: unknown): Promise<unknown> {
  try {
    await (error as { commitError?: Promise<unknown> }).commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}
