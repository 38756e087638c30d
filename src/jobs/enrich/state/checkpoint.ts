import { privateFile } from "../../../core/files/folders.js";
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError, startOver } from "../../../core/errors.js";
import {
  openSealedJson,
  readJsonFile,
  replaceFile,
  sealJson,
} from "../../../core/files/json-file.js";
import { type Manifest, manifestSchema } from "../../../core/manifest.js";
import type { SourcePosition } from "../../../io/input/types.js";
import { outputFault } from "../../../core/files/output-fault.js";
import type { SinkPosition } from "../../../io/output/types.js";
import { type TallySnapshot, withoutRows } from "../tally.js";
import type { Fingerprint } from "./fingerprint.js";

/** Version of the checkpoint format. Other versions are refused. */
export const checkpointVersion = 2;

/** Progress of an interrupted run. */
export const checkpointName = "checkpoint.json";

/** Marks a run whose rows are complete. */
export const markName = "finished.json";

/** Manifest of the unfinished run, for readers. */
export const recordName = "manifest.json";

/** Names the files that a run writes, where another run of the same state writes others. */
export const begunName = "begun.json";

/**
 * Folder that keeps the journal of a discarded run, with its checkpoint, until the next run has its
 * answers.
 */
export const earlierName = "earlier";

/** Progress of a run: enough to continue it in another process. */
export interface Checkpoint {
  readonly version: typeof checkpointVersion;
  readonly runId: string;
  /** Start of the run, RFC 3339 UTC. */
  readonly startedAt: string;
  /** Duration so far in seconds, over all its processes. */
  readonly seconds: number;
  /** Number of times the run was resumed. */
  readonly resumed: number;
  readonly fingerprint: Fingerprint;
  /** The input is read and written up to here; offset 0 if no row is written yet. */
  readonly source: SourcePosition;
  /** Numbers of rows beyond that position that are already written: those of a record that has more. */
  readonly ahead: readonly number[];
  readonly sink: SinkPosition;
  /** Bytes of the lookup journal that are durable. */
  readonly journalBytes: number;
  readonly tally: TallySnapshot;
}

/** Where a run continues. */
export interface ResumePoint extends Omit<Checkpoint, "sink"> {
  /** Null if its rows are to be written again. */
  readonly sink: SinkPosition | null;
}

/** The same run, with all of its rows still to write. */
export function fromFirstRow(point: ResumePoint): ResumePoint {
  const source = { ...point.source, offset: 0, row: 0, line: 0 };
  return { ...point, source, ahead: [], sink: null, tally: withoutRows(point.tally) };
}

/** A checkpoint that another version may have written: any member may be missing. */
export type AnyCheckpoint = Partial<ResumePoint>;

/**
 * A run whose rows are written and verified, so that only publishing is left. Saved in the state
 * folder before the first file gets its final name, and removed as the last step before the process
 * exits. A `--resume` that finds it repeats the publishing, which is idempotent.
 */
export interface FinishedRun {
  /** Identifies the run and tells how much of its output is durable. */
  readonly checkpoint: Checkpoint;
  readonly manifest: Manifest;
  /** Appended to the names of its files. */
  readonly suffix: string;
  /** Its objects are uploaded: what is left is to remove the local files. */
  readonly published?: boolean;
}

/**
 * Reads the checkpoint in a state folder; null if the run was killed before its first one.
 *
 * @throws FatalError `checkpoint_damaged`, `checkpoint_missing`, `checkpoint_unreadable`;
 *   UsageError `checkpoint_version`
 */
export async function readCheckpoint(folder: string): Promise<ResumePoint | null> {
  const found = await readSealed<ResumePoint>(join(folder, checkpointName));
  if (found === null) await mustBeUnused(folder);
  return found;
}

/**
 * Reads the mark of a run that was killed after its rows were complete; null if there is none.
 *
 * @throws as `readCheckpoint`
 */
export function readMark(folder: string): Promise<FinishedRun | null> {
  return readSealed(join(folder, markName));
}

async function readSealed<T extends object>(path: string): Promise<T | null> {
  const text = await readText(path);
  if (text === null) return null;
  const found = openSealedJson(text);
  if (found === null) {
    throw new FatalError("checkpoint_damaged", `${path} is damaged: its checksum does not match`, {
      hint: startOver,
    });
  }
  const { version } = found;
  if (version === checkpointVersion) return found as T;
  throw new UsageError(
    "checkpoint_version",
    `${path} was written by another version of repute (format ${String(version)}; this version reads ${checkpointVersion})`,
    { hint: `finish the run with that version, or ${startOver}` },
  );
}

/** Reads the checkpoint in a state folder; null if it cannot be read for any reason. */
export async function readAnyCheckpoint(folder: string): Promise<AnyCheckpoint | null> {
  const read = async (name: string): Promise<object | null> => {
    const text = await readText(join(folder, name)).catch(() => null);
    return text === null ? null : openSealedJson(text);
  };
  const mark: Partial<FinishedRun> | null = await read(markName);
  return mark?.checkpoint ?? read(checkpointName);
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    const what = error instanceof Error ? error.message : String(error);
    throw new FatalError("checkpoint_unreadable", `cannot read ${path}: ${what}`, {
      cause: error,
      hint: `check the disk and the folder's owner and permissions, or ${startOver}`,
    });
  }
}

/** Size in bytes of a journal without records. */
const emptyJournal = 32;

/**
 * A run saves its first checkpoint before its first lookup, so a journal without one means damage.
 */
async function mustBeUnused(folder: string): Promise<void> {
  const records = await stat(join(folder, "journal", "records")).catch(() => null);
  if (records === null || records.size <= emptyJournal) return;
  throw new FatalError(
    "checkpoint_missing",
    `${join(folder, checkpointName)} is missing although the interrupted run has lookups in its journal`,
    { hint: startOver },
  );
}

/** Replaces a file of the state, with a checksum of itself. @throws FatalError `output_*` */
export async function writeSealed(path: string, value: object): Promise<void> {
  await replaceFile(path, `${sealJson(value)}\n`, 0o600).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

/** Saves the manifest of an unfinished run in its state folder. Nothing relies on it, so failures are ignored. */
export async function saveUnfinished(folder: string, record: Manifest): Promise<void> {
  const path = join(folder, recordName);
  const fresh = `${path}.new`;
  try {
    await writeFile(fresh, `${JSON.stringify(record, null, 2)}\n`, privateFile);
    await rename(fresh, path);
  } catch {
    await rm(fresh, { force: true }).catch(() => undefined);
  }
}

/** The manifest of an unfinished run; null if there is none. */
export async function readUnfinished(folder: string): Promise<Manifest | null> {
  const found = await readJsonFile(join(folder, recordName)).catch(() => null);
  return manifestSchema.safeParse(found).data ?? null;
}
