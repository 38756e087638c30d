import type { EarlierRecord } from "../../formats/types.js";

/** Identifies a run's rows and the prefix of its added columns. */
export interface RunIdentity {
  readonly runId: string;
  readonly prefix: string;
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
