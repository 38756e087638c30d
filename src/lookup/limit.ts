import pLimit from "p-limit";
import type { Finding } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import type { ConcurrencyNeed } from "./concurrency-need.js";
import type { Lookup, LookupOptions, LookupWrapper } from "./types.js";
import { WaitingLine } from "./waiting-line.js";

export interface LimitOptions {
  /** Most attempts open at once, 1 or more. */
  readonly concurrency: number;
  /** Says how many of them are needed; without it as many as allowed are open. */
  readonly need?: Pick<ConcurrencyNeed, "most"> | undefined;
}

/**
 * Bounds how many attempts are open at once, over all lookups that the same wrapper wraps. An
 * attempt that waits for its turn ends at once when its signal aborts.
 *
 * p-limit bounds what is open; what waits stands in a line before it, which can be left and costs
 * a third of p-limit's own queue.
 */
export function limit({ concurrency, need }: LimitOptions): LookupWrapper {
  const slots = pLimit(concurrency);
  const line = new WaitingLine<void>();
  let open = 0;

  const most = need === undefined ? () => concurrency : () => Math.min(concurrency, need.most);
  const ended = (): void => {
    open--;
    // The slot goes to the first in the line, with those that have become needed, or to nobody.
    while (open < most() && line.admit()) open++;
  };
  const attempt = (next: Lookup, item: Item, options: LookupOptions): Promise<Finding> => {
    const answer = slots(next, item, options);
    answer.then(ended, ended);
    return answer;
  };

  return (next) => (item, options) => {
    if (options.signal.aborted) return Promise.reject(options.signal.reason);
    if (open >= most()) {
      return line.join(options.signal).then(() => attempt(next, item, options));
    }
    open++;
    return attempt(next, item, options);
  };
}
