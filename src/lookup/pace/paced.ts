import type { Clock } from "../../core/clock.js";
import type { Attempt } from "../../core/attempt.js";
import type { Item } from "../../core/item/item.js";
import type { ConcurrencyNeed } from "./concurrency-need.js";
import type { Pace } from "./pace.js";
import type { RequestPace } from "./request-pace.js";
import type { SendAhead } from "./send-ahead.js";
import type { AttemptLookup, AttemptWrapper, LookupOptions } from "../types.js";

/** Learns from answers how many requests have to be open. */
export interface LoadObserver {
  readonly need: ConcurrencyNeed;
  /** Ends with the first sign of a limit. */
  readonly ahead?: SendAhead | undefined;
  readonly clock: Clock;
}

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
 * @param load is told how long answers take, from the moment at which an attempt leaves
 */
export function paced(run: RequestPace, load?: LoadObserver): AttemptWrapper {
  return (next) => {
    const send = (ticket: number, item: Item, options: LookupOptions): Promise<Attempt> => {
      const sentAt = load?.clock.monotonic() ?? 0;
      load?.need.sent();
      const settle = (attempt: Attempt): Attempt => {
        const throttled = attempt.again?.policy === "throttled";
        const answered = attempt.finding.httpStatus !== null && !throttled;
        if (load !== undefined) noteLoad(load, answered ? attempt : null, sentAt);
        if (throttled) {
          load?.ahead?.end();
          run.throttled(attempt.again?.afterMs ?? null, ticket);
        }
        // Any other answer shows that the service takes requests; no answer does not.
        else if (answered) run.succeeded(ticket);
        return attempt;
      };
      return next(item, options).then(settle, (error: unknown) => {
        load?.need.lost();
        throw error;
      });
    };
    const take: AttemptLookup = (item, options) => {
      const { signal } = options;
      const ticket = signal.aborted ? null : (run.takeAtOnce?.() ?? null);
      if (ticket !== null) return send(ticket, item, options);
      return run.take(signal).then((turn) => send(turn, item, options));
    };
    return take;
  };
}

/** @param answer null when none came, or one that throttles */
function noteLoad({ need, clock }: LoadObserver, answer: Attempt | null, sentAt: number): void {
  if (answer === null) return need.lost();
  const now = clock.monotonic();
  // It may have queued for a connection first.
  need.answered(answer.tookMs === undefined ? sentAt : now - answer.tookMs, now);
}
