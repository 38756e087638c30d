import pLimit from "p-limit";
import { AbortGroups } from "../api/abort-groups.js";
import type { Finding } from "../core/finding.js";
import type { LookupWrapper } from "./types.js";

export interface LimitOptions {
  /** Most attempts open at once, 1 or more. */
  readonly concurrency: number;
}

/**
 * Bounds how many attempts are open at once, over all lookups that the same wrapper wraps. An
 * attempt that waits for its turn ends at once when its signal aborts.
 */
export function limit({ concurrency }: LimitOptions): LookupWrapper {
  const slots = pLimit(concurrency);
  const groups = new AbortGroups();
  return (next) => (item, options) => {
    const { signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (slots.activeCount < concurrency) return slots(next, item, options);
    return new Promise<Finding>((resolve, reject) => {
      const group = groups.of(signal);
      const seat = group.join({ abort: reject });
      slots(() => {
        group.leave(seat);
        if (!signal.aborted) return next(item, options).then(resolve, reject);
      }).catch(reject);
    });
  };
}
