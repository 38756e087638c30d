import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../core/errors.js";
import { checkpointVersion } from "./checkpoint.js";
import type { Checkpoint } from "./checkpoint.js";
import { readJsonFile, writeJsonFile } from "../core/json-file.js";
import { takeLock } from "../core/run-lock.js";
import { outputFault } from "../sinks/output-fault.js";

/** What is kept beside a growing output: checkpoint, journal and lock. */
export interface StateFolder {
  readonly path: string;
  /** Folder of the lookup journal. */
  readonly journalPath: string;
  /** Where an interrupted run got to; null when this one starts. */
  readonly checkpoint: Checkpoint | null;
  /** True when the folder holds something to come back to. */
  readonly worthKeeping: boolean;
  /** The run came to nothing: there is no need to come back. */
  forget(): void;
  save(checkpoint: Checkpoint): Promise<void>;
  /** Removes the folder: the run is done, or came to nothing. */
  remove(): Promise<void>;
  /** Lets the lock go and leaves the rest for `--resume`. */
  release(): Promise<void>;
}

/** A checkpoint that may be another version's: nothing in it is sure to be there. */
export type AnyCheckpoint = Partial<Checkpoint>;

export interface StateOptions {
  readonly resume: boolean;
  readonly restart: boolean;
  readonly name?: string;
}

/** Folder of a run's state beside its output. */
export function statePath(output: string): string {
  return `${output}.state`;
}

/**
 * Opens the state of an output's run and locks it.
 *
 * @param output path that the folder's name begins with
 * @param options.name what to call the output in messages; by default its path
 * @param discard on a restart, takes away what the interrupted run left elsewhere; null where its
 * checkpoint cannot be read
 * @throws UsageError `state_exists` when an interrupted run is there and neither flag says what to
 * do, `output_locked` when a run is under way
 */
export async function openStateFolder(
  output: string,
  { resume, restart, name = output }: StateOptions,
  discard: (found: AnyCheckpoint | null) => Promise<void> = () => Promise.resolve(),
): Promise<StateFolder> {
  const folder = statePath(output);
  if (resume && restart) {
    throw new UsageError("resume_or_restart", "--resume and --restart exclude each other");
  }
  const release = await lockFolder(folder);
  try {
    // Of a run that was killed while it tidied up.
    await rm(`${folder}.done`, { recursive: true, force: true });
    const found = (await readdir(folder)).filter(isOfOneRun);
    if (found.length > 0 && !resume && !restart) throw refusal(name, folder);
    if (restart) {
      // First: as long as this is not done, the folder tells what is still to be thrown away.
      if (found.includes("checkpoint.json")) await discard(await readAnyCheckpoint(folder));
      await Promise.all(found.map((name) => rm(join(folder, name), { recursive: true })));
    }
    const checkpoint = resume ? await readCheckpoint(join(folder, "checkpoint.json")) : null;
    if (resume && checkpoint === null) {
      // Killed before it began: what else is there belongs to no known run.
      await Promise.all(found.map((name) => rm(join(folder, name), { recursive: true })));
    }
    let worthKeeping = checkpoint !== null;
    return {
      path: folder,
      journalPath: join(folder, "journal"),
      checkpoint,
      get worthKeeping() {
        return worthKeeping;
      },
      forget() {
        worthKeeping = false;
      },
      async save(next) {
        try {
          await writeJsonFile(join(folder, "checkpoint.json"), next, 0o600);
          worthKeeping = true;
        } catch (error) {
          throw outputFault(join(folder, "checkpoint.json"), error);
        }
      },
      async remove() {
        // In one step: half a folder would look like a run that never began.
        await rename(folder, `${folder}.done`).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        });
        await rm(`${folder}.done`, { recursive: true, force: true });
      },
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** A lock belongs to no run. */
function isOfOneRun(name: string): boolean {
  return !name.startsWith("lock");
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
  return new UsageError("state_exists", `an interrupted run of ${name} is there (${folder})`, {
    hint: "continue it with --resume, or throw it away with --restart",
  });
}

async function readAnyCheckpoint(folder: string): Promise<AnyCheckpoint | null> {
  const found = await readJsonFile(join(folder, "checkpoint.json")).catch(() => null);
  return found as AnyCheckpoint | null;
}

async function readCheckpoint(path: string): Promise<Checkpoint | null> {
  let found: Partial<Checkpoint> | null;
  try {
    found = (await readJsonFile(path)) as Partial<Checkpoint> | null;
  } catch (error) {
    throw new FatalError("checkpoint_unreadable", `cannot read ${path}`, {
      cause: error,
      hint: "start anew with --restart",
    });
  }
  if (found === null) return null;
  if (found.version !== checkpointVersion) {
    throw new UsageError(
      "checkpoint_version",
      `${path} was written by another version of repute (form ${String(found.version)}, this one reads ${checkpointVersion})`,
      { hint: "finish it with that version, or start anew with --restart" },
    );
  }
  return found as Checkpoint;
}
