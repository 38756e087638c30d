import type { Attempt } from "../../core/attempt.js";
import type { Finding } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { mergePartials } from "./merge-partials.js";
import { RetryPlan, type RetryOptions } from "./retry-plan.js";
import { Sleeps } from "./sleeps.js";
import type { AttemptLookup, Lookup, LookupOptions } from "../types.js";

/**
 * Asks again where another attempt may help, and makes one finding of all attempts. Its `attempts`
 * counts them all.
 *
 * A full answer stands as it is. Partial answers are merged and kept, whatever the attempts after
 * them bring: a reset, a refusal or a 400 that follows says that this attempt brought nothing, not
 * that the data received before is wrong.
 */
export function retry(options: RetryOptions): (next: AttemptLookup) => Lookup {
  const sleeps = new Sleeps(options.clock);
  return (next) => {
    /** @param tried what was tried so far, one at least; further attempts are added */
    const askAgain = async (
      item: Item,
      lookupOptions: LookupOptions,
      tried: Attempt[],
    ): Promise<Finding> => {
      const plan = new RetryPlan(options);
      let wait: number | null = null;
      for (const { again } of tried) wait = again && plan.waitAfter(again);
      while (wait !== null) {
        await sleeps.sleep(wait, lookupOptions.signal);
        const attempt = await next(item, lookupOptions);
        tried.push(attempt);
        wait = attempt.again && plan.waitAfter(attempt.again);
      }
      return conclude(tried, lookupOptions);
    };
    return (item, lookupOptions) => {
      const tried = lookupOptions.asked?.tried ?? [];
      if (tried.length > 0) return askAgain(item, lookupOptions, tried);
      return next(item, lookupOptions).then((attempt) => {
        if (attempt.again === null) return conclude([attempt], lookupOptions);
        tried.push(attempt);
        return askAgain(item, lookupOptions, tried);
      });
    };
  };
}

function conclude(tried: readonly Attempt[], { asked }: LookupOptions): Finding {
  const last = tried.at(-1) as Attempt;
  const partials = tried.filter(({ finding }) => finding.status === "partial");
  const [first, ...others] = last.finding.status === "complete" ? [] : partials;
  if (asked !== undefined) asked.drift = (partials.at(-1) ?? last).drift;
  const finding =
    first === undefined
      ? last.finding
      : mergePartials([first.finding, ...others.map(({ finding }) => finding)]);
  if (tried.length === 1) return finding;
  return { ...finding, attempts: tried.reduce((sum, { finding }) => sum + finding.attempts, 0) };
}
