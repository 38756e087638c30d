import pLimit from "p-limit";
import type { Attempt } from "../../core/attempt.js";
import type { Backlog } from "./backlog.js";
import type { ConcurrencyNeed } from "./concurrency-need.js";
import type { Foresight } from "./foresight.js";
import type { Spacing } from "./spacing.js";
import type { AttemptWrapper } from "../types.js";
import { WaitingLine } from "./waiting-line.js";

export interface LimitOptions {
  /** Most attempts open at once, 1 or more. */
  readonly concurrency: number;
  /**
   * How many more may wait for a connection once all of those are open, so that one that comes free has
   * its next request at once; read each time. Default none.
   */
  readonly ahead?: Pick<Foresight, "most" | "ceiling"> | undefined;
  /** Says how many of them are needed; without it as many as allowed are open. */
  readonly need?: Pick<ConcurrencyNeed, "most"> | undefined;
  /** When one who waits may go; without it as soon as a lane is free. */
  readonly spacing?: Pick<Spacing, "pass"> | undefined;
  /** Is told how many wait. */
  readonly backlog?: Backlog | undefined;
}

/**
 * Bounds how many attempts are open at once, over all lookups that the same wrapper wraps. An
 * attempt that waits for its turn ends at once when its signal aborts.
 *
 * p-limit bounds the lanes. A lane makes one attempt after the other, as long as somebody waits in
 * the line before them: so p-limit's own cost, 4 µs, is paid by a lane and not by an attempt, and
 * who waits can leave.
 */
export function limit(options: LimitOptions): AttemptWrapper {
  const { concurrency, ahead, need, spacing, backlog } = options;
  const lanes = pLimit(concurrency + (ahead?.ceiling ?? 0));
  const line = new WaitingLine<Lane>();
  let open = 0;
  /** Lanes that are about to look into the line. */
  let starting = 0;

  const most = (): number => {
    const needed = need?.most ?? concurrency;
    return needed < concurrency ? needed : concurrency + (ahead?.most ?? 0);
  };
  const admit = (lane: Lane): boolean => {
    const admitted = line.admit(lane);
    backlog?.note(line.size);
    return admitted;
  };
  const openLane = (begin: (lane: Lane) => void): void => {
    open++;
    void lanes(
      () =>
        new Promise<void>((over) => {
          const goOn = (): void => {
            if (open <= most() && admit(lane)) return;
            open--;
            over();
          };
          const lane = (): void => {
            // More may have become needed, or this one may be one too many.
            while (open < most() && line.size > starting) openLaneForLine();
            if (spacing === undefined || line.size === 0) goOn();
            else spacing.pass(goOn);
          };
          begin(lane);
        }),
    );
  };
  const openLaneForLine = (): void => {
    starting++;
    openLane((lane) => {
      starting--;
      lane();
    });
  };

  return (next) => (item, options) =>
    new Promise((resolve, reject) => {
      const { signal } = options;
      const attempt = (lane: Lane): void => {
        let answer: Promise<Attempt>;
        try {
          answer = next(item, options);
        } catch (error) {
          answer = Promise.reject(error);
        }
        // The next attempt leaves before anything is made of this one's answer.
        const answered = (attempt: Attempt): void => {
          lane();
          resolve(attempt);
        };
        const failed = (error: unknown): void => {
          lane();
          reject(error);
        };
        answer.then(answered, failed);
      };
      if (signal.aborted) {
        reject(signal.reason);
      } else if (open < most()) {
        openLane(attempt);
      } else {
        line.stand(signal, attempt, reject);
        backlog?.note(line.size);
      }
    });
}

/** Is called when the attempt in a lane has ended; goes on with the next one. */
type Lane = () => void;
