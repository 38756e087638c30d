import type { Attempt } from "../../core/attempt.js";
import type { AttemptWrapper } from "../types.js";
import type { Pace } from "./pace.js";
import type { RequestPace } from "./request-pace.js";

/** Spends from a pace of an endpoint's own, one that `isShare`, for every attempt. */
export function share(own: Pace): AttemptWrapper {
  const ended = (): void => own.ended();
  return (next) => (item, options) =>
    own.take(options.signal).then(() => {
      const finding = next(item, options);
      finding.then(ended, ended);
      return finding;
    });
}

/**
 * Spends from the pace of the run for every attempt, and tells it what came back.
 *
 * @param onThrottled called when the service asks for fewer requests
 */
export function paced(run: RequestPace, onThrottled?: () => void): AttemptWrapper {
  const settle = (attempt: Attempt, ticket: number): Attempt => {
    if (attempt.again?.policy === "throttled") {
      onThrottled?.();
      run.throttled(attempt.again.afterMs, ticket);
    }
    // Any other answer shows that the service takes requests; no answer does not.
    else if (attempt.finding.httpStatus !== null) run.succeeded(ticket);
    return attempt;
  };
  return (next) => (item, options) =>
    run
      .take(options.signal)
      .then((ticket) => next(item, options).then((attempt) => settle(attempt, ticket)));
}
