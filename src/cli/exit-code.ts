export {
  endingOfError,
  exitCodeOfError,
  exitCodeOfRun,
  exitCodes,
  isInterrupted,
} from "../jobs/enrich/ending.js";

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
