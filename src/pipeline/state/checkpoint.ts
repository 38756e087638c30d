import type { SinkPosition } from "../../outputs/types.js";
import type { SourcePosition } from "../../inputs/types.js";
import type { Fingerprint } from "./fingerprint.js";
import type { TallySnapshot } from "../run/tally.js";

/** Version of the checkpoint's own form; another one is refused, not misread. */
export const checkpointVersion = 2;

/** How far a run is: enough to continue it in another process. */
export interface Checkpoint {
  readonly version: typeof checkpointVersion;
  readonly runId: string;
  /** When the run began, RFC 3339 UTC. */
  readonly startedAt: string;
  /** Seconds that the run took up to here, in all its processes. */
  readonly seconds: number;
  /** How often the run was continued. */
  readonly resumed: number;
  readonly fingerprint: Fingerprint;
  /** The input is read and written up to here; its first byte when no row is written yet. */
  readonly source: SourcePosition;
  /** Rows behind that position that are written already (unordered output). */
  readonly ahead: readonly number[];
  readonly sink: SinkPosition;
  /** Bytes of the journal of lookups that are durable. */
  readonly journalBytes: number;
  readonly tally: TallySnapshot;
}
