import pLimit from "p-limit";
import type { Finding } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import type { Lookup, LookupOptions, LookupWrapper } from "./types.js";
import { WaitingLine } from "./waiting-line.js";

export interface LimitOptions {
  /** Most attempts open at once, 1 or more. */
  readonly concurrency: number;
}

/**
 * Bounds how many attempts are open at once, over all lookups that the same wrapper wraps. An
 * attempt that waits for its turn ends at once when its signal aborts.
 *
 * p-limit bounds what is open; what waits stands in a line before it, which can be left and costs
 * a third of p-limit's own queue.
 */
export function limit({ concurrency }: LimitOptions): LookupWrapper {
  const slots = pLimit(concurrency);
  const line = new WaitingLine<void>();
  let open = 0;

  const ended = (): void => {
    // The slot goes to the first in the line, or is free.
    if (!line.admit()) open--;
  };
  const attempt = (next: Lookup, item: Item, options: LookupOptions): Promise<Finding> => {
    const answer = slots(next, item, options);
    answer.then(ended, ended);
    return answer;
  };

  return (next) => (item, options) => {
    if (options.signal.aborted) return Promise.reject(options.signal.reason);
    if (open === concurrency) {
      return line.join(options.signal).then(() => attempt(next, item, options));
    }
    open++;
    return attempt(next, item, options);
  };
}
