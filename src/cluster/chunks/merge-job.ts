import type { Writable } from "node:stream";
import type { Clock } from "../../core/clock.js";
import type { FailOn, MaxFailed } from "../../run/failure-limits.js";
import type { OutputTarget } from "../../run/destination/output-target.js";
import type { TableMode } from "../../outputs/table-mode.js";
import type { WorkFolder } from "./work-folder.js";
import type { WorkPlan } from "./work-plan.js";

/** Everything that a merge needs. */
export interface MergeJob {
  readonly work: WorkFolder;
  readonly plan: WorkPlan;
  readonly settings: {
    readonly output: string;
    readonly rejects?: string | undefined;
    readonly mode: TableMode;
    readonly key?: readonly string[] | undefined;
    readonly maxFailed: MaxFailed;
    readonly failOn: FailOn;
  };
  /** Receives the rows when the output is `-`. */
  readonly stdout: Writable;
  /** The command line without secrets. Recorded in the manifest. */
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  /** @default the system clock */
  readonly clock?: Clock | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  /** The output, if it is chosen already. `settings` then name local files. */
  readonly target?: OutputTarget;
  /** How often the run was resumed. @default the sum over its chunks */
  readonly resumed?: number;
}
