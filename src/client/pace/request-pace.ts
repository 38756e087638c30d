import type { Rate } from "../../core/options.js";

/** Decides when each request may start, for one run or for all that share the pace. */
export interface RequestPace {
  /**
   * Resolves when a request may start, to a ticket that dates it relative to throttling.
   *
   * @throws the signal's reason if it aborts first; an EarlyEndError if the run has to end, resumable
   */
  take(signal: AbortSignal): Promise<number>;
  /**
   * Reports a throttle answer.
   *
   * @param afterMs wait that the service asked for, or null
   */
  throttled(afterMs: number | null, ticket: number): void;
  /** Reports any other answer. */
  succeeded(ticket: number): void;
  /** The service declares its limit used up for `ms` milliseconds. */
  hold(ms: number): void;
  /** The service declares a rate; `by` names the source, such as an endpoint. */
  advise(by: string, rate: Rate): void;
}

/**
 * What throttle answers show: `found` means a limit, `unclear` that they may be of an unavailable
 * service and pass.
 */
export type Throttling = "none" | "unclear" | "found";
