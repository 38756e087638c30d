import { rateLimitHintMs, rateLimitPolicy, tellsLimit } from "../api/rate-limit-headers.js";
import type { AttemptReport } from "../api/types.js";
import type { Clock } from "../../core/clock.js";
import type { RequestPace } from "./request-pace.js";
import type { Slots } from "./slots.js";

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
