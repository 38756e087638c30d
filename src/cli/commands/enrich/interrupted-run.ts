import { existsSync } from "node:fs";
import { EarlyEndError, FatalError, InterruptedError, UsageError } from "../../../core/errors.js";
import { outputBase } from "../../../run/destination/check-paths.js";
import { statePath } from "../../../run/state/state-folder.js";

/** An interruption, with a hint on how to continue. */
class InterruptedRunError extends InterruptedError {
  override readonly hint: string;

  constructor(signal: InterruptedError["signal"], hint: string) {
    super(signal);
    this.hint = hint;
  }
}

/**
 * Adds to the error of a run how far it got, and how to continue it if its state was kept.
 *
 * @param reached rows and percent; null if no row was started
 * @param kept whether its state was kept; by default, whether the output has a state folder
 */
export function explainInterruption(
  error: unknown,
  output: string,
  reached: string | null,
  kept = output !== "-" && existsSync(statePath(outputBase(output))),
): unknown {
  // A run that never started has no state.
  if (error instanceof UsageError) return error;
  const written = reached === null ? "" : `${reached} written; `;
  const saved = `${written}progress is saved; to continue, repeat the command with --resume`;
  if (error instanceof InterruptedError) {
    const lost = `${written}nothing was saved; run the command again`;
    return new InterruptedRunError(error.signal, kept ? saved : lost);
  }
  if (error instanceof EarlyEndError) {
    const advice = kept
      ? "to continue, repeat the command with --resume"
      : "the remaining rows were not written and no progress was saved";
    return new EarlyEndError(error.code, `stopped early: ${error.message}; ${written}${advice}`, {
      cause: error,
    });
  }
  if (kept && error instanceof FatalError && !(error.hint ?? "").includes("--re")) {
    return new FatalError(error.code, error.message, {
      cause: error,
      hint: error.hint === null ? saved : `${error.hint}\n  ${saved}`,
    });
  }
  return error;
}
