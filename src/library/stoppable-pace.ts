import type { RequestPace } from "../lookup/pace/request-pace.js";

/**
 * A client's pace as other clients use it: when its owner stops, because a quota is used up or the
 * client was closed, their requests stop waiting too.
 */
export function stoppablePace(pace: RequestPace, stop: () => AbortSignal): RequestPace {
  return {
    take: (signal) => pace.take(AbortSignal.any([signal, stop()])),
    throttled: (afterMs, ticket) => pace.throttled(afterMs, ticket),
    succeeded: (ticket) => pace.succeeded(ticket),
    hold: (ms) => pace.hold(ms),
    advise: (by, rate) => pace.advise(by, rate),
  };
}
