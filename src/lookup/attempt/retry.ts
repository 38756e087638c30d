import type { Finding } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { mergePartials } from "./merge-partials.js";
import { RetryPlan, type RetryOptions } from "./retry-plan.js";
import { Sleeps } from "./sleeps.js";
import type { LookupOptions, LookupWrapper } from "../types.js";

/**
 * Asks again where another attempt may help, and makes one finding of what the attempts came to
 * (behaviour: Answers). Its `attempts` counts them all; `again` is taken away.
 *
 * A full answer stands as it is. Partial answers are merged and kept, whatever the attempts after
 * them come to: a reset, a refusal or a 400 that follows says that this attempt brought nothing, not
 * that the data received before is wrong.
 */
export function retry(options: RetryOptions): LookupWrapper {
  const sleeps = new Sleeps(options.clock);
  return (next) => {
    /** @param tried what was tried so far, one at least; further attempts are added */
    const askAgain = async (
      item: Item,
      lookupOptions: LookupOptions,
      tried: Finding[],
    ): Promise<Finding> => {
      const plan = new RetryPlan(options);
      let wait: number | null = null;
      for (const { again } of tried) wait = again ? plan.waitAfter(again) : null;
      while (wait !== null) {
        await sleeps.sleep(wait, lookupOptions.signal);
        const finding = await next(item, lookupOptions);
        tried.push(finding);
        wait = finding.again ? plan.waitAfter(finding.again) : null;
      }
      return conclude(tried);
    };
    return (item, lookupOptions) => {
      const tried = lookupOptions.asked?.tried ?? [];
      if (tried.length > 0) return askAgain(item, lookupOptions, tried);
      return next(item, lookupOptions).then((finding) => {
        if (finding.again === undefined) return finding;
        tried.push(finding);
        return askAgain(item, lookupOptions, tried);
      });
    };
  };
}

function conclude(tried: readonly Finding[]): Finding {
  const last = tried.at(-1) as Finding;
  const attempts = tried.reduce((sum, each) => sum + each.attempts, 0);
  const [first, ...others] = tried.filter(({ status }) => status === "partial");
  const kept =
    last.status === "complete" || first === undefined ? last : mergePartials([first, ...others]);
  const { again: _, ...finding } = kept;
  return { ...finding, attempts };
}
