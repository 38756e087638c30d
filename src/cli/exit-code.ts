import { EarlyEndError, InterruptedError, stopSignals, UsageError } from "../core/errors.js";
import { OutputClosedError } from "../outputs/file-destination.js";
import type { FindingStatus } from "../core/finding.js";
import type { FailOn } from "../pipeline/run/reading.js";

/** What the program's exit codes mean (behaviour: Exit codes). */
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

/** Exit codes that every command has, as the help lists them. */
export const commonExitCodes = [
  ["0", "done, and nothing that counts as a failure"],
  ["1", "the run could not go on"],
  ["2", "wrong usage or configuration"],
] as const;

/** Exit codes of a command that a signal interrupts. */
export const interruptedExitCodes = [
  ["129, 130, 131, 143", "stopped by SIGHUP, SIGINT, SIGQUIT, SIGTERM"],
] as const;

/** Exit code of a command whose quota may be used up. */
export const quotaExitCodes = [["75", "stopped early: a quota of --rate is used up"]] as const;

/** Exit codes of a command that asks a service. */
export const callExitCodes = [
  ...commonExitCodes,
  ...quotaExitCodes,
  ...interruptedExitCodes,
] as const;

/** Whether an exit code is that of a run that a signal stopped. */
export function isInterrupted(code: number): boolean {
  return stopSignals.some((name) => exitCodes[name] === code);
}

/**
 * Exit code of a finished run: 3 when rows exist that `--fail-on` counts, and with a share when they
 * make up at least that share of all rows; else 0.
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

/** Exit code of a run that ended with an error; a reader of stdout who has seen enough is none. */
export function exitCodeOfError(error: unknown): number {
  if (error instanceof OutputClosedError) return exitCodes.done;
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof EarlyEndError) return exitCodes.stoppedEarly;
  if (error instanceof InterruptedError) return exitCodes[error.signal];
  return exitCodes.stopped;
}
