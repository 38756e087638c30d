import type { Clock } from "../../core/clock.js";
import type { RunInput } from "../../inputs/types.js";
import type { RowJob } from "../reading.js";
import type { CopyForm } from "./copy-writer.js";

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
  /** `text`, or the kind of a table. */
  readonly kind: string;
  /** The file that holds it; null for a server or a stream. */
  readonly file: string | null;
}

/** An input of which a run copies tables first. */
export interface CopiedInput {
  readonly sources: readonly CopySource[];
  /** The copy as input. */
  inFolder(place: CopyPlace): { readonly input: RunInput } & Pick<RowJob, "open">;
  /** Makes the copy, or checks the one of the interrupted run. @throws ReputeError */
  make(place: CopyPlace, isResumed: boolean): Promise<void>;
}
