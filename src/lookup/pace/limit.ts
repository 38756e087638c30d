import pLimit from "p-limit";
import { AbortGroups } from "../../api/http/abort-groups.js";
import type { Attempt } from "../../core/attempt.js";
import type { AttemptWrapper } from "../types.js";
import type { Backlog } from "./backlog.js";
import type { ConcurrencyNeed } from "./concurrency-need.js";
import type { SendAhead } from "./send-ahead.js";

export interface LimitOptions {
  /** Most attempts open at once, 1 or more. */
  readonly concurrency: number;
  /** How many more may queue once all of those are open. Default none. */
  readonly ahead?: Pick<SendAhead, "most"> | undefined;
  /** How many of them are needed; without it as many as allowed are open. */
  readonly need?: Pick<ConcurrencyNeed, "most"> | undefined;
  /** Is told how many wait. */
  readonly backlog?: Backlog | undefined;
}

/**
 * Bounds how many attempts are open at once, over all lookups that the same wrapper wraps. An
 * attempt that waits for its turn ends at once when its signal aborts.
 */
export function limit({ concurrency, ahead, need, backlog }: LimitOptions): AttemptWrapper {
  const slots = pLimit(concurrency);
  const aborts = new AbortGroups();
  const adapt = (): void => {
    const needed = need?.most ?? concurrency;
    const most = needed < concurrency ? needed : concurrency + (ahead?.most ?? 0);
    if (most !== slots.concurrency) slots.concurrency = most;
  };
  return (next) => (item, options) => {
    const { signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason);
    adapt();
    return new Promise((resolve, reject) => {
      let isWaiting = true;
      const group = aborts.of(signal);
      const leave = (): void => {
        isWaiting = false;
        group.leave(seat);
      };
      const seat = group.join({
        abort(reason) {
          leave();
          reject(reason);
        },
      });
      const attempt = async (): Promise<Attempt | null> => {
        backlog?.note(slots.pendingCount);
        if (!isWaiting) return null;
        leave();
        try {
          return await next(item, options);
        } finally {
          adapt();
        }
      };
      slots(attempt).then((outcome) => outcome && resolve(outcome), reject);
      backlog?.note(slots.pendingCount);
    });
  };
}
