import type { Clock } from "../../core/clock.js";
import type { CopiedFrom, SourceInput } from "../../inputs/types.js";
import type { RowJob } from "../run/reading.js";
import type { CopyForm } from "./copy-writer.js";

/** Where a run's input is copied, and what a run needs while it is. */
export interface CopyPlace extends CopyForm {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** An input that a run copies first. */
export interface CopiedInput {
  /** The file that holds the table; null for a server. */
  readonly file: string | null;
  readonly copyOf: CopiedFrom;
  /** The copy as input. */
  inFolder(place: CopyPlace): { readonly input: SourceInput } & Pick<RowJob, "open">;
  /** Makes the copy, or checks the one of the interrupted run. @throws ReputeError */
  make(place: CopyPlace, isResumed: boolean): Promise<void>;
}
