import { existsSync, rmdirSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { openSealedJson } from "../../../core/files/json-file.js";
import { syncFolder, privateFolder } from "../../../core/files/folders.js";
import { takeLock, type Unlock } from "../../../core/files/run-lock.js";
import { removePart } from "../../../io/output/part-file.js";
import { outputFault } from "../../../core/files/output-fault.js";
import {
  begunName,
  checkpointName,
  earlierName,
  type ResumePoint,
  writeSealed,
} from "./checkpoint.js";

/** Files and folders that a run keeps in its state folder. Anything else is foreign. */
const own = new RegExp(
  `^(?:${[
    String.raw`(?:begun|checkpoint|finished|manifest)\.json(?:\.new)?`,
    String.raw`(?:input-\d+/)?(?:input\.[\w.]+|copied\.json)(?:\.new)?`,
    String.raw`rows\.part|seen-items\.part`,
    String.raw`lock(?:\.holder)?`,
    String.raw`journal|earlier|input-\d+|parts`,
    String.raw`(?:journal|earlier)/(?:records|checkpoint\.json(?:\.new)?)`,
    String.raw`parts/part-\d{5,}\.[^/]+`,
  ].join("|")})$`,
);

/** Folder beside an output that holds the state of its run. */
export function statePath(output: string): string {
  return `${output.replace(/\/$/, "")}.state`;
}

/** Name of a state folder while it is removed. */
export function doneName(folder: string): string {
  return `${folder}.done`;
}

/** Maximum number of names in a message. */
const maxNamed = 5;

/** The files in the state folder of a run. */
export class StateFiles {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Lists what a run has there: all but the lock. Empty if the folder does not exist.
   *
   * @throws UsageError `state_folder_foreign` if it is not a folder or holds foreign files, which
   *   stay untouched
   */
  async list(): Promise<readonly string[]> {
    const { folder } = this;
    const facts = await lstat(folder).catch(() => null);
    if (facts?.isSymbolicLink()) throw foreign(`${folder} is a symbolic link`);
    if (facts?.isDirectory() === false) throw foreign(`${folder} is not a folder`);
    const { names, others } = await this.#look();
    // Locks belong to no run.
    if (others.length === 0) return names.filter((name) => !name.startsWith("lock"));
    const named = others.slice(0, maxNamed).join(", ");
    const more = others.length > maxNamed ? ` and ${others.length - maxNamed} more` : "";
    throw foreign(`${folder} holds files that repute did not write: ${named}${more}`);
  }

  /** Its entries, and the paths of foreign ones at any depth. */
  async #look(): Promise<Record<"names" | "others", readonly string[]>> {
    const paths = await readdir(this.folder, { recursive: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return [];
        throw outputFault(this.folder, error);
      },
    );
    return {
      names: paths.filter((path) => !path.includes("/")),
      others: paths.filter((path) => !own.test(path)),
    };
  }

  /**
   * Creates the folder if it is missing, and locks it. Returns a function that releases it.
   *
   * @throws UsageError `output_locked` if a run is in progress
   */
  async lock(): Promise<Unlock> {
    try {
      await mkdir(this.folder, privateFolder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
      return await takeLock(join(this.folder, "lock"));
    } catch (error) {
      throw error instanceof UsageError ? error : outputFault(this.folder, error);
    }
  }

  /** Removes entries. The checkpoint goes last, since it describes the others. */
  async remove(names: readonly string[]): Promise<void> {
    const others = names.filter((name) => name !== checkpointName);
    await Promise.all(others.map((name) => rm(join(this.folder, name), { recursive: true })));
    if (names.length > others.length) await rm(join(this.folder, checkpointName), { force: true });
  }

  /** Removes a run's files, and the folder itself unless it holds foreign ones. */
  async removeAll(): Promise<void> {
    const { names, others } = await this.#look();
    const isOwn = (name: string): boolean =>
      !others.some((path) => path === name || path.startsWith(`${name}/`));
    await this.remove(names.filter(isOwn));
    this.removeFolder();
  }

  /** Removes the folder unless it holds foreign files. */
  removeFolder(): void {
    try {
      rmdirSync(this.folder);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "ENOENT") throw error;
    }
  }

  /**
   * Keeps the journal of a discarded run for the next one. Atomic: the rename discards the run, whose
   * checkpoint has no journal any more.
   */
  async keepJournal(checkpoint: ResumePoint): Promise<void> {
    const journal = join(this.folder, "journal");
    if (!existsSync(journal)) return;
    await writeSealed(join(journal, checkpointName), checkpoint);
    await rename(journal, join(this.folder, earlierName));
    await syncFolder(this.folder);
  }

  /**
   * Notes the files that a run is about to write elsewhere, and removes what an earlier one has left of
   * its own.
   */
  async note(files: readonly string[]): Promise<void> {
    await this.removeNoted();
    await writeSealed(join(this.folder, begunName), { files });
  }

  /** Removes the unfinished files elsewhere of the run that is given up. */
  async removeNoted(): Promise<void> {
    const text = await readFile(join(this.folder, begunName), "utf8").catch(() => null);
    const noted = text === null ? null : openSealedJson(text);
    const { files = [] } = (noted ?? {}) as { readonly files?: readonly string[] };
    for (const file of files) await removePart(file);
  }
}

function foreign(what: string): UsageError {
  return new UsageError("state_folder_foreign", what, {
    hint: "the run needs this name for its state: move those files elsewhere, or write to another output",
  });
}
