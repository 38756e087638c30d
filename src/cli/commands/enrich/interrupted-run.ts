import { EarlyEndError, FatalError, InterruptedError, UsageError } from "../../../core/errors.js";

/**
 * Adds to the error of a run how far it got, and how to continue it if its state was kept.
 *
 * @param reached rows and percent; null if no row was started
 * @param kept whether its state was kept
 */
export function explainInterruption(
  error: unknown,
  reached: string | null,
  kept: boolean,
): unknown {
  // A run that never started has no state.
  if (error instanceof UsageError) return error;
  const written = reached === null ? "" : `${reached} written; `;
  const saved = `${written}progress is saved; to continue, repeat the command with --resume`;
  if (error instanceof InterruptedError) {
    const lost = `${written}nothing was saved; run the command again`;
    return new InterruptedError(error.signal, { hint: kept ? saved : lost });
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
