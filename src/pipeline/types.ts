import type { Writable } from "node:stream";
import type { Clock } from "../core/clock.js";
import type { FindingStatus } from "../core/finding.js";
import type { ItemKind } from "../core/item/item.js";
import type { SourceInput } from "../sources/types.js";
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
  readonly clock?: Clock;
  /** Called once when rows begin to flow, with a cheap function that tells how far the run is. */
  readonly onStart?: (progress: () => RunProgress) => void;
  /** Something that a person should know while the run goes on. */
  readonly onWarning?: (message: string) => void;
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

/** The record of a run: `OUT.manifest.json`, and what `--json` prints. */
export interface Manifest {
  readonly schema_version: number;
  readonly program: { readonly name: string; readonly version: string };
  /** Distinct for every run; a resumed run keeps it. */
  readonly run_id: string;
  readonly command: readonly string[];
  readonly input: {
    readonly path: string | null;
    readonly format: string;
    readonly item_column: string;
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
  /** `done`; later also why a run stopped early. */
  readonly exit_reason: string;
}
