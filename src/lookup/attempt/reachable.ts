import { FatalError } from "../../core/errors.js";
import type { Finding } from "../../core/finding.js";
import type { LookupWrapper } from "../types.js";

export interface ReachableOptions {
  /** What the service's address is called in messages. */
  readonly address: string;
  /** True once the service answered anything at all. */
  readonly answered: () => boolean;
}

/**
 * Ends the run when the first lookup has used up its attempts and the service never answered at
 * all: the address is wrong or nothing is there, and thousands of failed rows would say no more.
 *
 * @throws FatalError `service_unreachable`
 */
export function reachable(options: ReachableOptions): LookupWrapper {
  const judged = (finding: Finding): Finding => {
    if (finding.status === "failed" && finding.httpStatus === null && !options.answered()) {
      throw new FatalError(
        "service_unreachable",
        `no answer from ${options.address} after ${finding.attempts} attempts: ${finding.error?.message ?? ""}`,
        { hint: hints.get(finding.error?.code ?? "") ?? usualHint },
      );
    }
    return finding;
  };
  return (next) => (item, lookupOptions) => {
    const finding = next(item, lookupOptions);
    // From the first answer on there is nothing to check.
    return options.answered() ? finding : finding.then(judged);
  };
}

const usualHint = "check the address and that the service runs, then run again";

const hints: ReadonlyMap<string, string> = new Map([
  ["proxy_failure", "check the proxy, or name the service in NO_PROXY to reach it without one"],
  ["out_of_memory", "raise the limit: ulimit -v unlimited"],
]);
