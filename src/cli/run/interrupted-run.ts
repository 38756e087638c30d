import { existsSync } from "node:fs";
import { EarlyEndError, FatalError, InterruptedError, UsageError } from "../../core/errors.js";
import { outputBase } from "../../pipeline/output/check-paths.js";
import { statePath } from "../../pipeline/state/state-folder.js";

/** A run that a signal ended, with what is left of it. */
class InterruptedRunError extends InterruptedError {
  override readonly hint: string;

  constructor(signal: InterruptedError["signal"], hint: string) {
    super(signal);
    this.hint = hint;
  }
}

/** Adds to the error that ended a run how to go on, where something was kept to go on from. */
export function explainInterruption(error: unknown, output: string): unknown {
  // A wrong output has no state to look for.
  if (error instanceof UsageError) return error;
  const kept = output !== "-" && existsSync(statePath(outputBase(output)));
  if (error instanceof InterruptedError) {
    return new InterruptedRunError(
      error.signal,
      kept
        ? "what is done is kept; go on with the same command and --resume"
        : "nothing is kept; run it again",
    );
  }
  if (error instanceof EarlyEndError) {
    const advice = kept
      ? "go on with the same command and --resume"
      : "the rest is not written and nothing is kept to go on from";
    return new EarlyEndError(error.code, `stopped early: ${error.message}; ${advice}`, {
      cause: error,
    });
  }
  if (kept && error instanceof FatalError && !(error.hint ?? "").includes("--re")) {
    const advice = "what is done is kept: go on with the same command and --resume";
    return new FatalError(error.code, error.message, {
      cause: error,
      hint: error.hint === null ? advice : `${error.hint}\n  ${advice}`,
    });
  }
  return error;
}
