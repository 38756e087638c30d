import type { Clock } from "../core/clock.js";
import { retryAfterMs } from "./retry-after.js";
import type { ResponseHeaders } from "./types.js";

/**
 * How long to send nothing, in milliseconds, because an answer says that nothing is left of a limit
 * until it starts anew; null when it does not say so. Read are `RateLimit` (the `r` or `remaining`
 * parameter), `RateLimit-Remaining` (IETF draft-ietf-httpapi-ratelimit-headers) and
 * `X-RateLimit-Remaining`, with the moment that `retryAfterMs` reads.
 */
export function rateLimitHintMs(headers: ResponseHeaders, clock: Clock): number | null {
  const left =
    /(?:^|[;,])\s*(?:r|remaining)=(\d+)/.exec(text(headers["ratelimit"]))?.[1] ??
    /^\d+$/.exec(text(headers["ratelimit-remaining"]))?.[0] ??
    /^\d+$/.exec(text(headers["x-ratelimit-remaining"]))?.[0];
  return left !== undefined && Number(left) === 0 ? retryAfterMs(headers, clock) : null;
}

function text(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? "";
}
