import { NotSentError } from "../../api/http/not-sent-error.js";
import type { Clock } from "../../core/clock.js";
import type { Finding } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { ConcurrencyNeed } from "./concurrency-need.js";
import type { Foresight } from "./foresight.js";
import type { Pace } from "./pace.js";
import type { RequestPace } from "./request-pace.js";
import type { Lookup, LookupOptions, LookupWrapper } from "../types.js";

/** Who learns from answers how many requests have to be open. */
export interface LoadNote {
  readonly need: ConcurrencyNeed;
  /** Ends with the first sign of a limit. */
  readonly foresight?: Foresight | undefined;
  readonly clock: Clock;
}

/** Spends from a pace of an endpoint's own, one that `isShare`, for every attempt. */
export function share(own: Pace): LookupWrapper {
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
export function paced(run: RequestPace, load?: LoadNote): LookupWrapper {
  return (next) => {
    const send = (ticket: number, item: Item, options: LookupOptions): Promise<Finding> => {
      const sentAt = load?.clock.monotonic() ?? 0;
      load?.need.sent();
      return next(item, options).then(
        (finding) => {
          const throttled = finding.again?.policy === "throttled";
          const answered = finding.httpStatus !== null && !throttled;
          if (!answered) load?.need.lost();
          else if (load !== undefined) {
            const now = load.clock.monotonic();
            // It may have waited for a connection first.
            const { tookMs } = finding;
            load.need.answered(tookMs === undefined ? sentAt : now - tookMs, now);
          }
          if (throttled) {
            load?.foresight?.end();
            run.throttled(finding.again?.afterMs ?? null, ticket);
          }
          // An answer of any other kind shows that the service takes requests; no answer does not.
          else if (answered) run.succeeded(ticket);
          return finding;
        },
        (error: unknown) => {
          load?.need.lost();
          if (error instanceof NotSentError) return take(item, options);
          throw error;
        },
      );
    };
    const take: Lookup = (item, options) => {
      const { signal } = options;
      const ticket = signal.aborted ? null : (run.takeAtOnce?.() ?? null);
      if (ticket !== null) return send(ticket, item, options);
      return run.take(signal).then((turn) => send(turn, item, options));
    };
    return take;
  };
}
