import type { Clock } from "../../core/clock.js";
import type { OptionalColumns } from "../../core/columns.js";
import type { MadeUp, Finding } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { Row } from "../../core/row.js";
import type { Encoder, ReadOptions, SourceFormat } from "../../io/formats/types.js";
import type { OpenedSource, RunInput, SourcePosition } from "../../io/input/types.js";
import type { TlpChoice } from "../../io/input/tlp-rows.js";
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
  Pick<ReadOptions, "anyItemColumn" | "isHeld"> &
  Pick<TlpChoice, "isOneOfSeveral">;

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
  open(resume: SourcePosition | null): Promise<OpenedSource>;
  /** Set for tables, which are copied to the run's folder before the input is opened. */
  readonly copied?: CopiedInput;
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

/** How a copy is written: a table of text, or an object per line. */
export type CopyFormat = "tsv" | "ndjson";

export interface CopyForm {
  readonly format: CopyFormat;
  /** Whether a TSV copy tells null from an empty text. */
  readonly keepsNulls: boolean;
}

/** Where a run's input is copied, and what a run needs while it is. */
export interface CopyPlace extends CopyForm {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** Something that is read for a copy, or beside it. */
interface CopySource {
  /** Whether it is of a database. */
  readonly isTable: boolean;
  /** The file that holds it; null for a server or a stream. */
  readonly file: string | null;
}

/** An input of which a run copies tables first. */
interface CopiedInput {
  readonly sources: readonly CopySource[];
  /** The copy as input. */
  inFolder(place: CopyPlace): { readonly input: RunInput } & Pick<RowSource, "open">;
  /** Makes the copy, or checks the one of the interrupted run. @throws ReputeError */
  make(place: CopyPlace, isResumed: boolean): Promise<void>;
}
