import type { Rate } from "../../core/options.js";
import { rateLimitHintMs, rateLimitPolicy, tellsLimit } from "../api/rate-limit-headers.js";
import type { AttemptReport } from "../api/types.js";
import type { Clock } from "../../core/clock.js";
import type { Slots } from "./slots.js";

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

/** Slows down as an answer's rate-limit headers ask. */
export function obeyHints(
  { endpoint, outcome, headers }: AttemptReport,
  {
    pace,
    slots,
    clock,
  }: {
    readonly pace: Pick<RequestPace, "hold" | "advise">;
    readonly slots: Pick<Slots, "answered" | "limited">;
    readonly clock: Clock;
  },
): void {
  if (headers === null) return;
  if (!tellsLimit(headers)) {
    if (outcome === "200") slots.answered();
    return;
  }
  slots.limited();
  const hint = rateLimitHintMs(headers, clock);
  if (hint !== null) pace.hold(hint);
  const allowed = rateLimitPolicy(headers);
  if (allowed !== null) pace.advise(endpoint, allowed);
}
