import type { MadeUp, TableData } from "../../core/finding.js";
import type { Clock } from "../../core/clock.js";
import type { Encoder } from "../formats/types.js";
import type { Stage } from "./stage.js";
import type { Manifest } from "../../core/manifest.js";
import type { WrittenOutput } from "./types.js";
import type { TableSchemaOptions } from "./typed/table-schema.js";

/** What lets a run's staged rows appear in an output. */
export interface Publisher {
  /**
   * Checks before the first request what would otherwise fail after the last: rights, columns, names.
   *
   * @throws ReputeError
   */
  check(): Promise<CheckedOutput>;
  /**
   * Publishes the rows. May be repeated, whenever it was killed: the result is the same.
   *
   * @throws ReputeError
   */
  publish(stage: Stage, as: PublishedAs): Promise<WrittenOutput>;
  /** Whether the rows of a run that stops early are published, and the others with its end. */
  readonly takesParts: boolean;
}

export interface CheckedOutput {
  /** Encodes rows for the stage. */
  readonly encoder: Encoder;
  /** What to tell the user of columns that are stored otherwise than they are in the input. */
  readonly warnings?: readonly string[];
  /** Of a table: the rows of the run before; null or absent if there is none. */
  readonly earlierRows?: number | null | undefined;
  /** Of a table: whose answers it holds; null or absent if there are none. */
  readonly holds?: TableData | null | undefined;
}

interface PublishedAs {
  /** Appended to the output's name: the run has too many failures. */
  readonly suffix: string;
  /** When they are published, in milliseconds: the same whenever it is repeated. */
  readonly at: number;
  /** The manifest of the run with what is written; null for none. */
  readonly manifest: (written: WrittenOutput) => Manifest | null;
}

/** What a publisher needs to know about the run. */
export interface PublisherOptions extends TableSchemaOptions {
  /** Value of `rep_run_id` in every row; kept by a resumed run. */
  readonly runId: string;
  /** Path from which the names of the run's own files derive. */
  readonly base: string;
  /** Called for each value that cannot be stored unchanged, with one message per kind. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Aborts waiting for an unreachable server. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
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
