import type { MadeUp, TableData } from "../../core/finding.js";
import type { Clock } from "../../core/clock.js";
import type { Encoder } from "../formats/types.js";
import type { Stage } from "./stage.js";
import type { Manifest } from "../../core/manifest.js";
import type { WrittenOutput } from "./types.js";
import type { TableSchemaOptions } from "./typed/table-schema.js";

/** Where a run's staged rows are published. Both steps may be repeated: the result is the same. */
export interface Publication {
  /** Encodes rows for the stage. */
  readonly encoder: Encoder;
  /**
   * Makes what is going to appear; null if what it holds is known only afterwards.
   *
   * @param suffix appended to its name: the run has too many failures
   * @throws ReputeError
   */
  prepare(stage: Stage, suffix: string): Promise<WrittenOutput | null>;
  /**
   * Lets it appear.
   *
   * @param manifest of the run; only a run without state, which publishes to a stream, has none yet
   * @throws ReputeError
   */
  commit(stage: Stage, suffix: string, manifest?: Manifest | null): Promise<void>;
  /** What to tell the user of columns that are stored otherwise than they are in the input. */
  readonly warnings?: readonly string[];
  /** Of a table: the rows of the run before; null or absent if there is none. */
  readonly earlierRows?: number | null | undefined;
  /** Of a table: whose answers it holds; null or absent if there are none. */
  readonly holds?: TableData | null | undefined;
  /** Whether the rows of a run that stops early are published, and the others with its end. */
  readonly takesParts: boolean;
}

/** What a publication needs to know about the run. */
export interface PublicationOptions extends TableSchemaOptions {
  /** Value of `rep_run_id` in every row; kept by a resumed run. */
  readonly runId: string;
  /** Existing folder for files that survive an interruption but not the run. */
  readonly stateFolder: string;
  /** Path from which the names of the run's own files derive. */
  readonly base: string;
  /** Called for each value that cannot be stored unchanged, with one message per kind. */
  readonly onWarning?: (message: string) => void;
  /** Aborts waiting for an unreachable server. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Set if the answers of the run are known to be made up. */
  readonly madeUp?: MadeUp | undefined;
}

/**
 * Explains why a table takes no rows of a run.
 *
 * @param holds whose answers it holds
 */
export function mixedData(name: string, holds: TableData): string {
  return holds === "real"
    ? `${name} holds rows of a real service, and takes no made-up ones`
    : `${name} holds made-up rows (--local or repute serve), and takes none of a real service`;
}

export const otherTable = "write to another table";
