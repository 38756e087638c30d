import type { Clock } from "../../core/clock.js";
import type { RowCounts } from "../../core/row.js";
import type { EarlierRecord } from "../../formats/types.js";
import type { Sink, SinkPosition } from "../types.js";

/** What a warehouse output needs to know of the run. */
export interface WarehouseOptions {
  /** The input's columns as they stand in the input. */
  readonly columns: readonly string[];
  /** What the added columns' names begin with, e.g. `rep_`. */
  readonly prefix: string;
  /** Goes into `rep_run_id` of every row; a resumed run keeps it. */
  readonly runId: string;
  /** Position of the checkpoint to go on from, or null for a new run. */
  readonly resume: SinkPosition | null;
  /** An existing folder for files that outlive an interruption but not the run. */
  readonly stateFolder: string;
  /** Told of each value that could not be stored as it was, with the same message for all such. */
  readonly onWarning?: (message: string) => void;
  /** Aborting it ends the waiting for a server that is gone. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** What an output really holds of a run. */
export interface WarehouseAudit extends RowCounts {
  /** Bytes of the file, or null where the output holds more than this run. */
  readonly bytes: number | null;
  /** SHA-256 of the file's bytes, hex, or null where the output holds more than this run. */
  readonly sha256: string | null;
}

/** An opened warehouse output. */
export interface OpenedWarehouse {
  readonly sink: Sink;
  /** The newest checkpoint note that the database committed for this run; null for none. */
  readonly note: string | null;
  /** Rows of this run that a table held when it was opened; not set for files. */
  readonly rows?: number;
  /** Counts what is there of this run by reading it back. No row can be written after it. */
  audit(): Promise<WarehouseAudit>;
}

/** A kind of warehouse: what it makes of `-o`, and how it is opened. One file each. */
export interface WarehouseKind<T extends WarehouseTarget> {
  /** The target that an output names, or null when it is none of this kind. @throws UsageError */
  parse(output: string): T | null;
  /** Opens the target; a missing table is created, a lacking one refused. @throws ReputeError */
  open(target: T, options: WarehouseOptions): Promise<OpenedWarehouse>;
  /** Takes the rows of an unfinished run out again (`--restart`); files need nothing. */
  discard?(target: T, run: UnfinishedRun): Promise<void>;
  /** Counts what is there of a finished run, and changes nothing: `repute verify`. @throws ReputeError */
  recount?(target: T, run: WarehouseRun): Promise<WarehouseAudit>;
  /** Opens the saved rows for reading. @throws ReputeError */
  rows?(target: T, options: SavedRowsOptions): Promise<SavedRows>;
}

/** Which rows are a run's, and what the names of their added columns begin with. */
export interface WarehouseRun {
  readonly runId: string;
  readonly prefix: string;
  /** False for a run of schema version 1. @default true */
  readonly hasVerdicts?: boolean;
}

/** A run whose rows are in a table although it will not be continued. */
export interface UnfinishedRun extends WarehouseRun {
  /** All its rows were written: they go although no note says that the run is unfinished. */
  readonly complete?: boolean;
}

/** Which saved rows are read, and which of their columns. */
export interface SavedRowsOptions {
  /** Start of the added columns' names, e.g. `rep_`. */
  readonly prefix: string;
  /** `rep_run_id` of the rows of a table. Default: the newest run. */
  readonly runId?: string | null | undefined;
  /** Added columns to read, without the prefix. Default: these and the input's own columns. */
  readonly only?: readonly string[] | undefined;
}

/** Rows of an output that are read back. */
export interface SavedRows {
  /** The input's own columns, in the order of the records' cells; none where `only` is given. */
  readonly columns: readonly string[];
  readonly records: AsyncIterable<readonly EarlierRecord[]>;
}

/** What every target has. */
export interface WarehouseTarget {
  readonly kind: string;
  /** What to call it in messages and in the manifest: no password. */
  readonly display: string;
  /** The file that holds it, symbolic links followed; null for a server. */
  readonly file: string | null;
  /** Path that the run's own files begin with: `BASE.state/`, `BASE.manifest.json`. */
  readonly base: string;
}
