import type { Readable } from "node:stream";
import type { Clock } from "../../core/clock.js";
import type { Reporter, TerminalStream } from "./reporter.js";

/** What the program gets from its process. Tests pass their own. */
export interface CliContext {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input, opened on the first call: an open stdin keeps the process alive. */
  readonly stdin: () => Readable & { readonly isTTY?: boolean };
  /** On a terminal it shows control characters as `<U+001B>`. */
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  /** Aborts with an `InterruptedError` on the first stop signal. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly reporter: Reporter;
  /** Registers a last step before the exit. With one, the process exits even if timers are pending. */
  readonly beforeExit?: (step: () => void) => void;
}
