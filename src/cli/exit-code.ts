import { EarlyEndError, InterruptedError, stopSignals, UsageError } from "../core/errors.js";
import { OutputClosedError } from "../outputs/file-destination.js";
import type { FindingStatus } from "../core/finding.js";
import type { FailOn } from "../pipeline/run/reading.js";

/** Exit codes of the program. */
export const exitCodes = {
  done: 0,
  stopped: 1,
  usage: 2,
  rowsFailed: 3,
  stoppedEarly: 75,
  SIGHUP: 129,
  SIGINT: 130,
  SIGQUIT: 131,
  SIGTERM: 143,
} as const;

/** Exit codes of every command, as the help lists them. */
export const commonExitCodes = [
  ["0", "done, without failures"],
  ["1", "the run could not continue"],
  ["2", "wrong usage or configuration"],
] as const;

/** Exit codes of a command that signals can interrupt. */
export const interruptedExitCodes = [
  ["129, 130, 131, 143", "stopped by SIGHUP, SIGINT, SIGQUIT, SIGTERM"],
] as const;

/** Exit code of a command that obeys a quota. */
export const quotaExitCodes = [["75", "stopped early: a quota of --rate is used up"]] as const;

/** Exit codes of a command that sends requests. */
export const callExitCodes = [
  ...commonExitCodes,
  ...quotaExitCodes,
  ...interruptedExitCodes,
] as const;

/** Whether a signal ended the run with this exit code. */
export function isInterrupted(code: number): boolean {
  return stopSignals.some((name) => exitCodes[name] === code);
}

/**
 * Exit code of a finished run: 3 if it has rows that `--fail-on` counts and they reach its share of
 * all rows, else 0.
 */
export function exitCodeOfRun(
  failOn: FailOn,
  statuses: Readonly<Record<FindingStatus, number>>,
): number {
  const rows = Object.values(statuses).reduce((sum, n) => sum + n, 0);
  const counted = failOn.statuses.reduce((sum, status) => sum + statuses[status], 0);
  const isEnough = counted > 0 && counted * 100 >= (failOn.percent ?? 0) * rows;
  return isEnough ? exitCodes.rowsFailed : exitCodes.done;
}

/** Exit code for an error. A closed stdout (`| head`) is not an error. */
export function exitCodeOfError(error: unknown): number {
  if (error instanceof OutputClosedError) return exitCodes.done;
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof EarlyEndError) return exitCodes.stoppedEarly;
  if (error instanceof InterruptedError) return exitCodes[error.signal];
  return exitCodes.stopped;
}
