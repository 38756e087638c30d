import type { Rate } from "../../core/options.js";

/**
 * Decides when each request may leave, for one run or for all that share it. `Pace` is the one of a
 * single process; another may ask a server.
 */
export interface RequestPace {
  /**
   * Resolves when a request may leave, with a ticket that says after which throttling it left.
   *
   * @throws the signal's reason when it aborts first; an EarlyEndError ends the run, resumable
   */
  take(signal: AbortSignal): Promise<number>;
  /**
   * The service asked for fewer requests.
   *
   * @param afterMs how long it asked to wait, or null where it did not say
   */
  throttled(afterMs: number | null, ticket: number): void;
  /** The service answered in any other way. */
  succeeded(ticket: number): void;
  /** The service says that nothing is left for so long. */
  hold(ms: number): void;
  /** The service says which rate it allows; `by` names the part of it that says so. */
  advise(by: string, rate: Rate): void;
}
