import { EarlyEndError } from "../../core/errors.js";
import type { AttemptWrapper } from "../types.js";

export interface BudgetOptions {
  /** Most attempts that are sent, all endpoints together. */
  readonly maxRequests: number;
  /** Told once, when an attempt is refused. */
  readonly onSpent: (error: EarlyEndError) => void;
}

/**
 * Counts attempts before they are sent and refuses the first that is over the budget, and all after
 * it. It goes right before the client, so that nothing that waits counts as sent; one wrapper serves
 * all endpoints.
 *
 * @throws EarlyEndError `requests_spent`
 */
export function budget({ maxRequests, onSpent }: BudgetOptions): AttemptWrapper {
  let sent = 0;
  let spent: EarlyEndError | null = null;
  return (next) => (item, options) => {
    if (sent < maxRequests) {
      sent++;
      return next(item, options);
    }
    if (spent === null) {
      const count = maxRequests === 1 ? "the one request" : `all ${maxRequests} requests`;
      spent = new EarlyEndError("requests_spent", `${count} of --max-requests are made`);
      onSpent(spent);
    }
    return Promise.reject(spent);
  };
}
