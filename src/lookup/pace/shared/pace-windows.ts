import type { Rate } from "../../../core/options.js";
import type { PaceWindow } from "../../../store/redis/pace-server.js";

/** Maximum number of requests in any second, as a multiple of the rate. */
const mostInASecond = 1.05;

/** Speed of the catch-up as a multiple of the rate, and the maximum backlog it makes up for. */
const catchUp = { speed: 1.02, longestMs: 500 };

/** A slot this late, in milliseconds, is given up, so that late slots don't crowd a second. */
export const lateMs = 20;

/** Windows of at least this length are never exceeded; the catch-up takes this share of them. */
const long = { fromMs: 10_000, share: 0.005 };

/** How far an adaptive rate may fall behind and still be caught up with. */
const adaptiveBacklogMs = 16;

/** The limit of a given rate: evenly spaced, with no more than 105% of the rate in any second. */
export function paceWindow(name: string, { count, perMs }: Rate): PaceWindow {
  const evenMs = perMs / count;
  const inASecond = Math.floor((mostInASecond * 1000) / evenMs);
  // Late slots move up to `lateMs` towards those behind them.
  const leastMs = inASecond < 1 ? evenMs : (1000 + lateMs) / inASecond;
  const fastMs = Math.max(evenMs / catchUp.speed, leastMs);
  const isLong = perMs >= long.fromMs;
  const backlogMs = Math.min(catchUp.longestMs, isLong ? perMs * long.share : perMs);
  // Over a long window the catch-up is saved up in advance.
  const averageMs = isLong ? (perMs + backlogMs + lateMs) / count : evenMs;
  const intervalMs = Math.max(averageMs, fastMs > evenMs ? fastMs : 0);
  return {
    name,
    interval: intervalMs * 1000,
    backlog: (intervalMs > fastMs ? backlogMs : 0) * 1000,
    fast: Math.min(intervalMs, fastMs) * 1000,
  };
}

/** The limit of a rate found by search. */
export function adaptiveWindow(perSecond: number): PaceWindow {
  const interval = 1e6 / perSecond;
  return { name: "found", interval, backlog: adaptiveBacklogMs * 1000, fast: interval };
}

/** Stands for no limit at all. */
export const unlimited: PaceWindow = { name: "none", interval: 10, backlog: 0, fast: 10 };
