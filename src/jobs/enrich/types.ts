import type { Writable } from "node:stream";
import type { Lookup } from "../../client/lookup/types.js";
import type { Session } from "../../client/session/session.js";
import type { Clock } from "../../core/clock.js";
import type { OptionalColumns } from "../../core/columns.js";
import type { Finding, MadeUp } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { Manifest } from "../../core/manifest.js";
import type { Row } from "../../core/row.js";
import type { Encoder, ReadOptions, SourceFormat } from "../../io/formats/types.js";
import type { copiesOf } from "../../io/input/copies.js";
import type { OpenedSource, RunInput, SourcePosition } from "../../io/input/types.js";
import type { OutputReading } from "../../io/output/read.js";
import type { inGroups } from "./options.js";
import type { RunProgress } from "./tally.js";

/** Everything a run needs besides its settings. */
export interface EnrichJob {
  readonly settings: ReturnType<typeof inGroups>;
  readonly input: RunInput;
  /** Receives the rows when the output is `-`. */
  readonly stdout: Writable;
  /** The service, and everything that is open to ask it. The run does not close it. */
  readonly session: Pick<Session, "service" | "withheld" | "lookup">;
  /** Folder that keeps the manifest of the last run to a stream, unless `stateDir` does. @default none */
  readonly stateFolder?: string | null;
  /** The command line without secrets. Recorded in the manifest. */
  readonly command: readonly string[];
  /** Aborting ends the run cleanly; it then rejects with the reason, an `InterruptedError`. */
  readonly signal: AbortSignal;
  /** Value of `run_id` and `rep_run_id`. A resumed run keeps its own. @default random */
  readonly runId?: string;
  /** When the run began, RFC 3339 UTC. A resumed run keeps its own. @default when rows start to flow */
  readonly startedAt?: string;
  /** @default the system clock */
  readonly clock?: Clock;
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
   * Receives the last step of a finished run: removing the mark that the next run would find. A program
   * calls it right before it exits. Without this, `enrich` does it before it resolves.
   */
  readonly onFinished?: (lastStep: () => void) => void;
  /** Called with warnings while the run is in progress. */
  readonly onWarning?: (message: string) => void;
  /** Called with choices that the user may want to check, such as the item column. */
  readonly onNotice?: (message: string) => void;
}

/** A job whose input has been looked at. */
export interface Job extends EnrichJob {
  readonly rows: RowSource;
  /** Set if rows of an output are filled in. */
  readonly refill?: Refill;
}

/** A run whose rows are published. */
export interface PublishedRun {
  readonly manifest: Manifest;
  /** Opens the rows: of a table or a Parquet file as they were staged. */
  readonly read: () => Promise<OutputReading>;
}

/** Settings that determine how the rows of an input are read. */
export type ReadingSettings = Omit<EnrichJob["settings"]["input"], "recursive"> &
  Pick<ReadOptions, "isOneOfSeveral" | "isHeld">;

/** Gives a row's item, and its finding or the promise of one. */
export type StartRow = (
  row: Row,
  signal: AbortSignal,
) => { readonly item: Item | null; readonly finding: Finding | Promise<Finding> };

/** Where the rows of a run come from. */
export interface RowSource {
  /** Format of the input. Waits for the first bytes if no flag or file name tells it. */
  inputFormat(): Promise<SourceFormat>;
  /** Options that affect reading, by flag name. A resumed run must have the same. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Opens the input, at the interrupted run's position or at the start. */
  readonly open: (startAt: SourcePosition | null) => Promise<OpenedSource>;
  /** Set if inputs are copied to the run's folder before they are opened: the copies. */
  readonly copied?: (
    place: Parameters<typeof copiesOf>[1],
  ) => ReturnType<typeof copiesOf> & Pick<RowSource, "open">;
}

/** What is different in a run that fills in rows of an output. Partial answers of caches are asked again. */
interface Refill {
  /** Starts each row's lookup. */
  readonly start: (lookup: Lookup) => StartRow;
  /** Set if the rows already hold answers that are made up. */
  readonly madeUp?: MadeUp | undefined;
  /** The optional columns of the output. */
  readonly optional: OptionalColumns;
  /** Run whose rows are filled in; undefined if it is unknown. */
  readonly runId?: string | undefined;
  /** Wraps the encoder of the output. */
  readonly encoder?: ((encoder: Encoder) => Encoder) | undefined;
  /** The output replaces the input. */
  readonly inPlace: boolean;
  /** ETag of what an output in object storage replaces, as it was read. @default any */
  readonly replacedVersion?: string | undefined;
}
