import type { InputRecord, SharedFacts, SkippedInputs } from "./input-records.js";
import type { Writable } from "node:stream";
import type { Clock } from "../core/clock.js";
import type { OptionalColumns } from "../core/columns.js";
import type { FindingStatus, VerdictCounts } from "../core/finding.js";
import type { ItemKind } from "../core/item/item.js";
import type { RunInput } from "../inputs/types.js";
import type { RetriedRows } from "./tally.js";
import type { Throttling } from "../lookup/pace/request-pace.js";
import type { PartRecord, SinkPosition } from "../outputs/types.js";
import type { NamingName } from "../outputs/warehouse/column-names.js";
import type { Session } from "../session/session.js";
import type { RunEnding } from "./exit-reason.js";
import type { EnrichSettings } from "./options.js";

/** Everything a run needs besides its settings. */
export interface EnrichJob {
  readonly settings: EnrichSettings;
  readonly input: RunInput;
  /** Receives the rows when the output is `-`. */
  readonly stdout: Writable;
  /** The service, and everything that is open to ask it. The run does not close it. */
  readonly session: Session;
  /**
   * Folder for the records of runs without an output file. Null for none.
   *
   * @default `$XDG_STATE_HOME/repute`, else `~/.local/state/repute`
   */
  readonly stateFolder?: string | null;
  /**
   * Keep the manifest of a run to a stream in the state folder, as that of the last such run.
   *
   * @default false
   */
  readonly recordsStream?: boolean;
  /** The command line without secrets. Recorded in the manifest. */
  readonly command: readonly string[];
  /**
   * Aborting ends the run cleanly; `enrich` then rejects with the reason, an `InterruptedError`.
   */
  readonly signal: AbortSignal;
  /** Value of `run_id` and `rep_run_id`. A resumed run keeps its own. @default random */
  readonly runId?: string;
  /** True if the input is one chunk of a larger one, which is judged as a whole. @default false */
  readonly chunk?: boolean;
  /** @default the system clock */
  readonly clock?: Clock;
  /** The service has answered another run: if it is away now, it may come back. @default false */
  readonly answered?: boolean;
  /** Called once with the identifier of the run, before anything else is reported. */
  readonly onRunId?: (runId: string) => void;
  /**
   * Called once when rows start to flow, with a cheap function that returns the progress, and one
   * that returns the manifest of the run so far.
   */
  readonly onStart?: (progress: () => RunProgress, record: () => Manifest) => void;
  /** Called when the rows are published, before the run removes its files. */
  readonly onPublished?: (run: PublishedRun) => Promise<void>;
  /**
   * Receives the last step of a finished run: removing the mark that a resume would find. A program
   * calls it right before it exits. Without this, `enrich` does it before it resolves.
   */
  readonly onFinished?: (lastStep: () => void) => void;
  /** Called with warnings while the run is in progress. */
  readonly onWarning?: (message: string) => void;
  /** Called with choices that the user may want to check, such as the item column. */
  readonly onNotice?: (message: string) => void;
}

/** A run whose rows are published. */
export interface PublishedRun {
  readonly manifest: Manifest;
  /** The output in this machine's files: of objects, those that were uploaded. */
  readonly local: string;
  /** What a reader needs to know of the staged rows; null where they are not the cells of a table. */
  readonly staged: StagedCells | null;
}

/** The staged rows of a run into a table or a Parquet file. */
export interface StagedCells {
  readonly kind: NamingName;
  readonly folder: string;
  readonly position: SinkPosition;
  /** The input's column names. */
  readonly columns: readonly string[];
  readonly optional: OptionalColumns;
}

/** Progress of a run. */
export interface RunProgress {
  /** Rows in the bytes that are read, whether their lookups have started or not. */
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly requests: number;
  /** Requests that were answered with 429. */
  readonly throttled: number;
  /** Seconds until the next request after a throttle answer; 0 if nothing is held back. */
  readonly pausedSeconds: number;
  readonly statuses: Readonly<Record<FindingStatus, number>>;
  /** Rows by verdict; `unknown` counts those without one. */
  readonly verdicts: Readonly<VerdictCounts>;
  /** Lookups that need requests. Under triage, an item counts as one: its quick check. */
  readonly lookups: {
    /** Number in the whole input; null if it is not counted (see `countInBackground`), or not yet. */
    readonly planned: number | null;
    readonly settled: number;
    /** Requests that the settled ones took. */
    readonly requests: number;
  };
  /** Maximum number of requests per second; null for no limit. */
  readonly maxPerSecond: number | null;
  /** What throttle answers have shown: `named` means a limit that the service names with 429. */
  readonly throttling: Throttling | "named";
  /** What ends the run before its last row, if that comes first. */
  readonly ends: {
    /** Requests left by `--max-requests` and quotas; null without them. */
    readonly requests: number | null;
    /** Seconds until the deadline; null without one. */
    readonly seconds: number | null;
    /** The deadline, if it is a time of day: `05:30`. */
    readonly at: string | null;
  };
  /** Bytes read of the input as stored (compressed, if it is). */
  readonly bytesRead: number;
  /** Size of the input as stored; null if unknown (stdin). */
  readonly bytesTotal: number | null;
}

/** Requests to one endpoint: `total`, and a count per HTTP status or transport fault. */
export interface RequestCounts {
  readonly total: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Result for one tag's list under `--tag-ips`. */
export interface TagExportRecord {
  readonly tag: string;
  /** `unchanged`: exported, with the same addresses as before. */
  readonly status: "exported" | "unchanged" | "failed";
  /** Snapshot that the list was read from; null on failure. */
  readonly snapshot: string | null;
  /** Addresses in the list, and its changes against the previous export; null on failure. */
  readonly total: number | null;
  readonly added: number | null;
  readonly removed: number | null;
  /** Paths of its files; empty on failure. */
  readonly files: readonly string[];
  /** Why it failed; null otherwise. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/**
 * The record of a run: `OUT.manifest.json`, for an unfinished run `OUT.state/manifest.json`, and the
 * output of `--json`. Its `exit_reason` is `done` or `rows_failed` for rows in OUT, and
 * `too_many_failed` if they are kept as `OUT.failed` (see `--max-failed`).
 */
export interface Manifest extends RunEnding, SkippedInputs {
  readonly schema_version: number;
  readonly program: { readonly name: string; readonly version: string };
  /** Unique per run. A resumed run keeps it. */
  readonly run_id: string;
  readonly command: readonly string[];
  readonly input: SharedFacts & {
    /** Null for a stream, and for several inputs, which are in `inputs`. */
    readonly path: string | null;
    readonly bytes: number;
    readonly rows: number;
    readonly grew_while_interrupted: boolean;
  };
  /** Each of several inputs. */
  readonly inputs?: readonly InputRecord[];
  readonly output: {
    /** As given, without a password; null for stdout. */
    readonly path: string | null;
    readonly format: string;
    /** Null for a database, which holds more than this run. */
    readonly bytes: number | null;
    readonly rows: number;
    /** Null for stdout and databases. */
    readonly sha256: string | null;
    /** Prefix of the added columns, if it is not `rep_`. */
    readonly prefix?: string;
    /** Indicators in a STIX bundle, which omits rows that accuse nothing. */
    readonly indicators?: number;
    /** Files of a data set, in order. */
    readonly parts?: readonly PartRecord[];
  };
  /** With `--only-new`: rows that were read and not written, because the table has their item. */
  readonly skipped?: number;
  readonly statuses: Readonly<Record<FindingStatus, number>>;
  /** Rows by verdict; `unknown` counts those without one. */
  readonly verdicts: Readonly<VerdictCounts>;
  /** Of a retry: the failed and partial rows by status before, then by status now. */
  readonly retried?: RetriedRows;
  readonly kinds: Readonly<Record<ItemKind, number>>;
  readonly requests: Readonly<Record<string, RequestCounts>>;
  /** Rows by the origin of their finding. */
  readonly sources: {
    readonly live: number;
    readonly cache: number;
    readonly duplicate: number;
    readonly local: number;
  };
  /** Answers taken over from an interrupted run that this one replaced; absent without one. */
  readonly took_over?: number;
  /** Reason code → rows, for `unsupported`. */
  readonly unsupported: Readonly<Record<string, number>>;
  /** Error code → rows, for `invalid` and `failed`. */
  readonly errors: Readonly<Record<string, number>>;
  /** Tag → rows that carry it. */
  readonly tags: Readonly<Record<string, number>>;
  /** With `--tag-ips`, one entry per tag; absent until the export has finished. */
  readonly tag_exports?: readonly TagExportRecord[];
  /** `member=value` → answers with a value that the interface does not list. */
  readonly drift: Readonly<Record<string, number>>;
  /** Message → number of times. */
  readonly warnings: Readonly<Record<string, number>>;
  /** Message of a warning about rows → the first of them. */
  readonly warned_rows: Readonly<Record<string, number>>;
  /** Set if the service said that its answers are invented. */
  readonly synthetic?: true;
  readonly started_at: string;
  readonly ended_at: string;
  /** Duration in seconds, excluding interruptions. */
  readonly seconds: number;
  /** Number of times the run was resumed. */
  readonly resumed: number;
}
