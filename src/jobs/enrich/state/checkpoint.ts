import { privateFile } from "../../../core/files/folders.js";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile } from "../../../core/files/json-file.js";
import { type Manifest, manifestSchema } from "../../../core/manifest.js";
import type { SourcePosition } from "../../../io/input/types.js";
import type { SinkPosition } from "../../../io/output/types.js";
import { type TallySnapshot, withoutRows } from "../tally.js";
import type { Fingerprint } from "./fingerprint.js";

/** Folder beside an output that holds the state of its run. */
export function statePath(output: string): string {
  return `${output.replace(/\/$/, "")}.state`;
}

/** Name of the file with all that must survive of a run. */
export const databaseName = "run.db";

/** Name of the manifest of an unfinished run, for readers. */
export const recordName = "manifest.json";

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
  /** The input is read and written up to here; offset 0 if no row is written yet. */
  readonly source: SourcePosition;
  /** Numbers of rows beyond that position that are already written: those of a record that has more. */
  readonly ahead: readonly number[];
  readonly sink: SinkPosition;
  /** Number of the latest answer that is stored, and of the latest one of an earlier run; 0 for none. */
  readonly answers: { readonly last: number; readonly earlier: number };
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
