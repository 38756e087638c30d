import type { Rate } from "../../core/options.js";
import type { ResponseHeaders } from "../types.js";

/** Windows longer than this are not spread evenly: a day's quota would become one request a minute. */
const longestWindowMs = 60_000;

/**
 * The strictest rate that an answer tells of in `RateLimit-Policy` (IETF
 * draft-ietf-httpapi-ratelimit-headers: `"burst";q=100;w=10`, and `100;w=10` in earlier drafts);
 * null when there is none. Windows of more than a minute and quotas of other things than requests
 * are left out.
 */
export function rateLimitPolicy(headers: ResponseHeaders): Rate | null {
  const header = headers["ratelimit-policy"];
  if (header === undefined) return null;
  let strictest: Rate | null = null;
  for (const policy of String(header).split(",")) {
    const count = Number(/;\s*q=(\d+)/.exec(policy)?.[1] ?? /^\s*(\d+)\s*;/.exec(policy)?.[1] ?? 0);
    const perMs = 1000 * Number(/;\s*w=(\d+)/.exec(policy)?.[1] ?? 0);
    const unit = /;\s*qu="?([\w-]+)/.exec(policy)?.[1] ?? "requests";
    if (count < 1 || perMs < 1 || perMs > longestWindowMs || unit !== "requests") continue;
    if (strictest === null || count / perMs < strictest.count / strictest.perMs) {
      strictest = { count, perMs };
    }
  }
  return strictest;
}
