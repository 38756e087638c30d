import type { SourcePosition } from "../../inputs/types.js";
import type { SinkPosition } from "../../outputs/types.js";
import type { TallySnapshot } from "../tally.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { Fingerprint } from "./fingerprint.js";

/** Version of the checkpoint format. Other versions are refused. */
export const checkpointVersion = 2;

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
  /** Numbers of rows beyond that position that are already written (unordered output). */
  readonly ahead: readonly number[];
  readonly sink: SinkPosition;
  /** Bytes of the lookup journal that are durable. */
  readonly journalBytes: number;
  readonly tally: TallySnapshot;
}

/**
 * A run whose rows are written and audited, so that only publishing is left. Saved in the state
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
