import type { Writable } from "node:stream";
import type { Clock } from "../core/clock.js";
import type { FindingStatus, Verdict } from "../core/finding.js";
import type { ItemKind } from "../core/item/item.js";
import type { SourceInput } from "../inputs/types.js";
import type { IntelClientOptions } from "../api/intel-client.js";
import type { RequestPace } from "../lookup/pace/request-pace.js";
import type { QuotaStore } from "../store/quota/quota-store.js";
import type { FindingStore } from "../store/store.js";
import type { EnrichSettings } from "./options.js";

/** Everything that a run needs beside its settings. */
export interface EnrichJob {
  readonly settings: EnrichSettings;
  readonly input: SourceInput;
  /** Takes the rows when the output is `-`. */
  readonly stdout: Writable;
  /**
   * What the service is called in checkpoints instead of its address, where the address differs
   * from run to run (the embedded service).
   */
  readonly serviceName?: string;
  /** True: the service ends with the run, so that quotas are counted for this run alone. Default false. */
  readonly embedded?: boolean;
  /**
   * Folder for what outlives runs: quotas are counted there. Null: there is none.
   *
   * @default `$XDG_STATE_HOME/repute`, else `~/.local/state/repute`
   */
  readonly stateFolder?: string | null;
  /** Key for `x-api-key`, or null to send none. */
  readonly apiKey: string | null;
  /** The command line as it may be shown: no secrets. Kept in the manifest. */
  readonly command: readonly string[];
  /** Aborting ends the run cleanly; the reason (an `InterruptedError`) is what `enrich` rejects with. */
  readonly signal: AbortSignal;
  /**
   * False: no journal on disk and no checkpoints, so that the run cannot be continued; what was asked
   * is kept in memory, which grows with the input. For measuring, and for small embedded jobs.
   *
   * @default true
   */
  readonly durable?: boolean;
  /** Default: the machine's own. */
  readonly clock?: Clock;
  /** What this run shares with others. Default: nothing. */
  readonly shared?: SharedResources | undefined;
  /** Called once when rows begin to flow, with a cheap function that tells how far the run is. */
  readonly onStart?: (progress: () => RunProgress) => void;
  /**
   * Given the last step of a finished run: removing the mark that a resume would find. A program takes
   * it right before it exits. Without this, `enrich` takes it before it resolves.
   */
  readonly onFinished?: (lastStep: () => void) => void;
  /** Something that a person should know while the run goes on. */
  readonly onWarning?: (message: string) => void;
  /** What the run found out by itself and a person may want to check: the column with the items. */
  readonly onNotice?: (message: string) => void;
}

/**
 * What several runs of a process, or of several machines, can share. The run uses it in place of its
 * own, and never closes it; its owner does.
 */
export interface SharedResources {
  /** In place of `--rate`: when each request may leave. */
  readonly pace?: RequestPace | undefined;
  /** In place of `--cache`: answers of earlier runs. */
  readonly cache?: FindingStore | undefined;
  /** In place of the count in the state folder: what is spent of quotas of an hour and longer. */
  readonly quotas?: QuotaStore | undefined;
  /** Connections to the service, such as `createDispatcher` opens. */
  readonly connections?: IntelClientOptions["dispatcher"] | undefined;
}

/** How far a run is. */
export interface RunProgress {
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly requests: number;
  readonly statuses: Readonly<Record<FindingStatus, number>>;
  /** Bytes of the input as stored that were read. */
  readonly bytesRead: number;
  /** Bytes of the input as stored, or null when that is unknown (stdin). */
  readonly bytesTotal: number | null;
}

/** Requests of one endpoint: `total`, and how many came to each HTTP status or transport fault. */
export interface RequestCounts {
  readonly total: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

/** What became of one tag's list under `--tag-ips`. */
export interface TagExportRecord {
  readonly tag: string;
  /** `unchanged`: exported, with the same addresses as before. */
  readonly status: "exported" | "unchanged" | "failed";
  /** Addresses in the list, and against the one before; null when it failed. */
  readonly total: number | null;
  readonly added: number | null;
  readonly removed: number | null;
  /** Paths of its files; none when it failed. */
  readonly files: readonly string[];
  /** Why it failed; null otherwise. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** How an input was read: as flags said, else as found. */
export interface ReadingFacts {
  readonly format: string;
  /** What separates cells in CSV and TSV; else null. */
  readonly delimiter: string | null;
  /** What names the columns: the first record, a comment line before it, or nothing. */
  readonly header: "record" | "comment" | "none";
  readonly item_column: string;
  /** How it was chosen: a flag, a usual name, the largest share, or a format of one column. */
  readonly item_column_by: "flag" | "name" | "share" | "format";
  /** Fraction of its sampled cells that are indicators; null where none were sampled. */
  readonly item_column_share: number | null;
  readonly kind_column: string | null;
  readonly kind_column_by: "flag" | "neighbour" | null;
}

/** The record of a run: `OUT.manifest.json`, and what `--json` prints. */
export interface Manifest {
  readonly schema_version: number;
  readonly program: { readonly name: string; readonly version: string };
  /** Distinct for every run; a resumed run keeps it. */
  readonly run_id: string;
  readonly command: readonly string[];
  readonly input: ReadingFacts & {
    readonly path: string | null;
    readonly bytes: number;
    readonly rows: number;
    /** The run was continued on an input that had become longer. */
    readonly grew_while_interrupted: boolean;
  };
  readonly output: {
    /** As it was given, without a password; null for stdout. */
    readonly path: string | null;
    readonly format: string;
    /** Null for a database, which holds more than this run. */
    readonly bytes: number | null;
    readonly rows: number;
    /** Null for stdout and databases. */
    readonly sha256: string | null;
    /** Of a STIX bundle: what became of the rows, of which those that accuse nobody are not in it. */
    readonly indicators?: number;
  };
  readonly statuses: Readonly<Record<FindingStatus, number>>;
  /** Rows by verdict; rows without an answer are not among them. */
  readonly verdicts: Readonly<Record<Verdict, number>>;
  readonly kinds: Readonly<Record<ItemKind, number>>;
  readonly requests: Readonly<Record<string, RequestCounts>>;
  /** Rows whose finding came from each place. */
  readonly sources: {
    readonly live: number;
    readonly cache: number;
    readonly duplicate: number;
    readonly local: number;
  };
  /** Reason code → rows, for `unsupported`. */
  readonly unsupported: Readonly<Record<string, number>>;
  /** Error code → rows, for `invalid` and `failed`. */
  readonly errors: Readonly<Record<string, number>>;
  /** Tag → rows that carry it. */
  readonly tags: Readonly<Record<string, number>>;
  /** With `--tag-ips`, one for each tag; absent until the export is over. */
  readonly tag_exports?: readonly TagExportRecord[];
  /** `member=value` → answers with a value that the interface does not list. */
  readonly drift: Readonly<Record<string, number>>;
  /** Message → how often. */
  readonly warnings: Readonly<Record<string, number>>;
  readonly started_at: string;
  readonly ended_at: string;
  /** Seconds that the run took, interruptions not counted. */
  readonly seconds: number;
  /** How often the run was continued after an interruption. */
  readonly resumed: number;
  /** `done`; `too_many_failed` when the rows are kept as `OUT.failed` (see `--max-failed`). */
  readonly exit_reason: string;
}
