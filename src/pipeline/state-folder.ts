import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../core/errors.js";
import type { Checkpoint } from "./checkpoint.js";
import { replaceFile } from "../core/json-file.js";
import { takeLock } from "../core/run-lock.js";
import { outputFault } from "../sinks/output-fault.js";
import { checkpointText, readAnyCheckpoint, readCheckpoint } from "./read-checkpoint.js";
import { listState, removeEntries, removeState } from "./state-contents.js";

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
 * do, `output_locked` when a run is under way; as `listState` and `readCheckpoint`
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
  const done = `${folder}.done`;
  await listState(folder);
  await listState(done);
  const release = await lockFolder(folder);
  try {
    // Of a run that was killed while it tidied up.
    await removeState(done);
    const found = (await listState(folder)).filter(isOfOneRun);
    if (found.length > 0 && !resume && !restart) throw refusal(name, folder);
    if (restart) {
      // First: as long as this is not done, the folder tells what is still to be thrown away.
      if (found.includes("checkpoint.json")) await discard(await readAnyCheckpoint(folder));
      await removeEntries(folder, found);
    }
    const checkpoint = resume ? await readCheckpoint(folder) : null;
    if (resume && checkpoint === null) {
      // Killed before it began: what else is there belongs to no known run.
      await removeEntries(folder, found);
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
          await replaceFile(join(folder, "checkpoint.json"), checkpointText(next), 0o600);
          worthKeeping = true;
        } catch (error) {
          throw outputFault(join(folder, "checkpoint.json"), error);
        }
      },
      async remove() {
        // In one step: half a folder would look like a run that never began. What somebody put there
        // during the run stays.
        const isOurs = await listState(folder).then(
          () => true,
          () => false,
        );
        if (!isOurs) return removeState(folder);
        await rename(folder, done).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        });
        await removeState(done);
      },
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** What was asked counts against its quota, though the rows are thrown away; a lock is no run's. */
function isOfOneRun(name: string): boolean {
  return !name.startsWith("lock") && name !== "quota";
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
