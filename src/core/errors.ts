export interface ReputeErrorOptions {
  /** The underlying error, for debugging. The message makes sense without it. */
  readonly cause?: unknown;
  /** What the user can do next. */
  readonly hint?: string | null | undefined;
  /** The command in the hint, without its flags: the program shows the user's own in its place. */
  readonly command?: string;
}

/**
 * Base class of every error that repute throws on purpose. The message says what happened and where;
 * programs compare `code`, which is stable.
 */
export class ReputeError extends Error {
  readonly code: string;
  readonly hint: string | null;
  readonly command: string | null;

  constructor(code: string, message: string, options: ReputeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint ?? null;
    this.command = options.command ?? null;
  }
}

/** Wrong usage or configuration; nothing was started. Exit code 2. */
export class UsageError extends ReputeError {}

/** The run cannot continue (credentials refused, disk full, input unreadable). Exit code 1; resumable. */
export class FatalError extends ReputeError {}

/** A run stopped early on purpose: a budget, a deadline, a quota. Exit code 75; resumable. */
export class EarlyEndError extends ReputeError {}

/** Signals that stop a run: hang-up, Ctrl-C, Ctrl-\ and termination. */
export const stopSignals = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const;

type StopSignal = (typeof stopSignals)[number];

/** A signal stopped the run. Exit code 128 plus the signal's number; resumable. */
export class InterruptedError extends ReputeError {
  readonly signal: StopSignal;

  constructor(signal: StopSignal, options: ReputeErrorOptions = {}) {
    super("interrupted", `stopped by ${signal}`, options);
    this.signal = signal;
  }
}

/** How to continue a run whose state is kept. */
export const continueRun = "continue with --resume";

/** Remedy if the state of an interrupted run cannot be continued. */
export const startOver = "start over with --restart";

/** Remedy for an input that has changed since the interruption. */
export const startAnew =
  "repeat the command with --resume: unless the input is restored, a new run starts with the answers so far";

/** Remedy for staged rows that are lost or damaged: their answers are in the journal. */
export const writeAgain =
  "check the disk and what else writes there, then continue with --resume: the rows are written again with the answers so far";
