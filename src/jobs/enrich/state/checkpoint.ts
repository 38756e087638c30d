import { join } from "node:path";
import { readJsonFile, writeJsonFile } from "../../../core/files/json-file.js";
import { type Manifest, manifestSchema } from "../../../core/manifest.js";
import type { SourcePosition } from "../../../io/input/types.js";
import type { SinkPosition } from "../../../io/output/types.js";
import type { TallySnapshot } from "../tally.js";
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
  /** How the input is read, and how many of its rows are written. */
  readonly source: SourcePosition;
  /** Null if its rows are to be written again. */
  readonly sink: SinkPosition | null;
  /** Number of the latest answer that is stored, and of the latest one of an earlier run; 0 for none. */
  readonly answers: { readonly last: number; readonly earlier: number };
  readonly tally: TallySnapshot;
}

/** Saves the manifest of an unfinished run in its state folder. Nothing relies on it, so failures are ignored. */
export async function saveUnfinished(folder: string, record: Manifest): Promise<void> {
  await writeJsonFile(join(folder, recordName), record, true).catch(() => undefined);
}

/** The manifest of an unfinished run; null if there is none. */
export async function readUnfinished(folder: string): Promise<Manifest | null> {
  const found = await readJsonFile(join(folder, recordName)).catch(() => null);
  return manifestSchema.safeParse(found).data ?? null;
}
