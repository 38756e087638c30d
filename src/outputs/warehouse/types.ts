import type { Clock } from "../../core/clock.js";
import type { OptionalColumns } from "../../core/columns.js";
import type { RowCounts } from "../../core/row.js";
import type { EarlierRecord } from "../../formats/types.js";
import type { PartOptions, PartRecord, Sink, SinkPosition } from "../types.js";

/** What a warehouse output needs to know about the run. */
export interface WarehouseOptions {
  /** The input's column names, unchanged. */
  readonly columns: readonly string[];
  /** Prefix of the added columns' names, e.g. `rep_`. */
  readonly prefix: string;
  /** The optional columns of the rows. @default none */
  readonly optional?: OptionalColumns;
  /** Value of `rep_run_id` in every row; kept by a resumed run. */
  readonly runId: string;
  /** Position of the checkpoint to continue from; null for a new run. */
  readonly resume: SinkPosition | null;
  /** Existing folder for files that survive an interruption but not the run. */
  readonly stateFolder: string;
  /** Called for each value that cannot be stored unchanged, with one message per kind. */
  readonly onWarning?: (message: string) => void;
  /** Aborts waiting for an unreachable server. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Of a data set: how its files are written. */
  readonly parts?: PartOptions | undefined;
  /** Of a finished run that is published again: the files of its data set. */
  readonly finished?: readonly PartRecord[] | undefined;
}

/** What an output actually contains of a run. */
export interface WarehouseAudit extends RowCounts {
  /** Size of the file in bytes; null if the output holds more than this run. */
  readonly bytes: number | null;
  /** SHA-256 of the file in hexadecimal; null if the output holds more than this run. */
  readonly sha256: string | null;
  /** CRC-32 of the file, where one was read. */
  readonly crc?: number;
  /** Of a data set: its files, whose names are decided. */
  readonly parts?: readonly PartRecord[];
}

/** An open warehouse output. */
export interface OpenedWarehouse {
  readonly sink: Sink;
  /** The latest checkpoint note that the database committed for this run; null for none. */
  readonly note: string | null;
  /** Rows of this run in the table when it was opened; absent for files. */
  readonly rows?: number;
  /** Reads the run's rows back and counts them. No row can be written afterwards. */
  audit(): Promise<WarehouseAudit>;
}

/** A kind of warehouse: how `-o` is parsed and opened. */
export interface WarehouseKind<T extends WarehouseTarget> {
  /** The target, or null if the output isn't of this kind. @throws UsageError */
  parse(output: string): T | null;
  /** Opens the target. Creates a missing table. @throws ReputeError */
  open(target: T, options: WarehouseOptions): Promise<OpenedWarehouse>;
  /** Deletes the rows of an unfinished run (`--restart`); absent for files. */
  discard?(target: T, run: UnfinishedRun): Promise<void>;
  /** Counts the rows of a finished run (`repute verify`). @throws ReputeError */
  recount?(target: T, run: RunIdentity): Promise<WarehouseAudit>;
  /** Opens the saved rows for reading. @throws ReputeError */
  rows?(target: T, options: SavedRowsOptions): Promise<SavedRows>;
}

/** Identifies a run's rows and the prefix of its added columns. */
export interface RunIdentity {
  readonly runId: string;
  readonly prefix: string;
}

/** A run that will not be continued but has rows in a table. */
export interface UnfinishedRun extends RunIdentity {
  /** Delete the rows even if no note marks the run as unfinished. */
  readonly complete?: boolean;
}

/** Which saved rows are read, and which of their columns. */
export interface SavedRowsOptions {
  /** Prefix of the added columns' names, e.g. `rep_`. */
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

/** Members of all targets. */
export interface WarehouseTarget {
  readonly kind: string;
  /** Name for messages and the manifest, without a password. */
  readonly display: string;
  /** The file that holds it, symbolic links resolved; null for a server. */
  readonly file: string | null;
  /** Path prefix of the run's own files: `BASE.state/`, `BASE.manifest.json`. */
  readonly base: string;
}
