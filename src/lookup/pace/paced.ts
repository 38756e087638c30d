import { NotSentError } from "../../api/http/not-sent-error.js";
import type { Clock } from "../../core/clock.js";
import type { Attempt } from "../../core/attempt.js";
import type { Item } from "../../core/item/item.js";
import type { ConcurrencyNeed } from "./concurrency-need.js";
import type { Foresight } from "./foresight.js";
import type { Pace } from "./pace.js";
import type { RequestPace } from "./request-pace.js";
import type { AttemptLookup, AttemptWrapper, LookupOptions } from "../types.js";

/** Who learns from answers how many requests have to be open. */
export interface LoadNote {
  readonly need: ConcurrencyNeed;
  /** Ends with the first sign of a limit. */
  readonly foresight?: Foresight | undefined;
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
 * Spends from the pace of the run for every attempt, and tells it what came back. What was not sent,
 * because the service throttled others meanwhile, takes its turn once more.
 *
 * @param load is told how long answers take, from the moment at which an attempt leaves
 */
export function paced(run: RequestPace, load?: LoadNote): AttemptWrapper {
  return (next) => {
    const send = (ticket: number, item: Item, options: LookupOptions): Promise<Attempt> => {
      const sentAt = load?.clock.monotonic() ?? 0;
      load?.need.sent();
      return next(item, options).then(
        (attempt) => {
          const throttled = attempt.again?.policy === "throttled";
          const answered = attempt.finding.httpStatus !== null && !throttled;
          if (!answered) load?.need.lost();
          else if (load !== undefined) {
            const now = load.clock.monotonic();
            // It may have waited for a connection first.
            const { tookMs } = attempt;
            load.need.answered(tookMs === undefined ? sentAt : now - tookMs, now);
          }
          if (throttled) {
            load?.foresight?.end();
            run.throttled(attempt.again?.afterMs ?? null, ticket);
          }
          // An answer of any other kind shows that the service takes requests; no answer does not.
          else if (answered) run.succeeded(ticket);
          return attempt;
        },
        (error: unknown) => {
          load?.need.lost();
          if (error instanceof NotSentError) return take(item, options);
          throw error;
        },
      );
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
