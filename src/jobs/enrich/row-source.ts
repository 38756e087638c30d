import type { OptionalColumns } from "../../core/columns.js";
import type { MadeUp, Finding } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { Row } from "../../core/row.js";
import type { Encoder, ReadOptions, SourceFormat } from "../../io/formats/types.js";
import type { CopyPlace } from "../../io/input/copies.js";
import type { OpenedSource, RunInput, SourcePosition } from "../../io/input/types.js";
import type { Lookup } from "../../client/lookup/types.js";
import type { EnrichSettings } from "./options.js";

/** Settings that determine how the rows of an input are read. */
export type ReadingSettings = Pick<
  EnrichSettings["input"],
  | "from"
  | "header"
  | "delimiter"
  | "comment"
  | "encoding"
  | "sheet"
  | "itemColumn"
  | "kindColumn"
  | "tlpColumn"
  | "maxTlp"
> &
  Pick<ReadOptions, "isOneOfSeveral" | "isHeld">;

/** A row's item, and its finding or the promise of one. */
interface StartedRow {
  readonly item: Item | null;
  readonly finding: Finding | Promise<Finding>;
}

export type StartRow = (row: Row, signal: AbortSignal) => StartedRow;

/** Where the rows of a run come from. */
export interface RowSource {
  /**
   * Format of the input. Waits for the first bytes if neither a flag nor the file name tells it.
   */
  inputFormat(): Promise<SourceFormat>;
  /** Options that affect reading, by flag name. A resumed run must have the same. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Opens the input, at the interrupted run's position or at the start. */
  readonly open: (startAt: SourcePosition | null) => Promise<OpenedSource>;
  /** Set if inputs are copied to the run's folder before they are opened. */
  readonly copied?: (place: CopyPlace) => CopiedRows;
}

/** What is different in a run that fills in rows of an output. Partial answers of caches are asked again. */
export interface Refill {
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

/** The rows of inputs that are copied first. */
interface CopiedRows extends Pick<RowSource, "open"> {
  /** The copies. */
  readonly input: RunInput;
  /** Makes the copies, or checks those of the interrupted run. @throws ReputeError */
  readonly make: (isResumed: boolean) => Promise<void>;
}
