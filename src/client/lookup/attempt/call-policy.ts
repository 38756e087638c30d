import { isOverQuota } from "../../../core/attempt.js";
import { ServiceError } from "../../api/status-fault.js";
import type { CallPolicy } from "../../api/types.js";
import type { RequestPace } from "../../pace/request-pace.js";
import { AbortableSleep } from "../../../core/abort.js";
import { type RetryOptions, RetryPlan } from "./retry.js";

interface CallPolicyOptions extends Omit<RetryOptions, "partialRetries"> {
  readonly pace: RequestPace;
}

/**
 * Makes calls other than lookups (tags, customers, cases): paces each attempt and retries as `retry`
 * does for lookups.
 */
export function retryCalls({ pace, ...options }: CallPolicyOptions): CallPolicy {
  const sleep = new AbortableSleep(options.clock);
  return async (attempt, { signal }) => {
    const plan = new RetryPlan({ ...options, partialRetries: 0 });
    for (;;) {
      const ticket = await pace.take(signal);
      try {
        const answer = await attempt();
        pace.succeeded(ticket);
        return answer;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.again === null) throw error;
        const { again } = error;
        if (again.policy === "throttled" || isOverQuota(error))
          pace.throttled(again.afterMs, ticket);
        else if (error.httpStatus !== null) pace.succeeded(ticket);
        const wait = plan.waitAfter(again, error.code);
        if (wait === null) throw error;
        await sleep.for(wait, signal);
      }
    }
  };
}
