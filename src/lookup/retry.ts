import type { Finding } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import { mergePartials } from "./merge-partials.js";
import { RetryPlan, type RetryOptions } from "./retry-plan.js";
import { Sleeps } from "./sleeps.js";
import type { LookupOptions, LookupWrapper } from "./types.js";

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
    const askAgain = async (
      item: Item,
      lookupOptions: LookupOptions,
      first: Finding,
    ): Promise<Finding> => {
      const plan = new RetryPlan(options);
      const partials: Finding[] = [];
      let finding = first;
      let attempts = first.attempts;
      for (;;) {
        if (finding.status === "partial") partials.push(finding);
        const wait = finding.again ? plan.waitAfter(finding.again) : null;
        if (wait === null) return conclude(finding, partials, attempts);
        await sleeps.sleep(wait, lookupOptions.signal);
        if (lookupOptions.asked !== undefined) {
          lookupOptions.asked.attempts = attempts;
          lookupOptions.asked.partial = partials.length > 0;
        }
        finding = await next(item, lookupOptions);
        attempts += finding.attempts;
      }
    };
    return (item, lookupOptions) =>
      next(item, lookupOptions).then((finding) =>
        finding.again === undefined ? finding : askAgain(item, lookupOptions, finding),
      );
  };
}

function conclude(last: Finding, partials: readonly Finding[], attempts: number): Finding {
  const [first, ...others] = partials;
  const kept =
    last.status === "complete" || first === undefined ? last : mergePartials([first, ...others]);
  const { again: _, ...finding } = kept;
  return { ...finding, attempts };
}
