import { transportCodes } from "../../core/error-codes/row-codes.js";
import { FatalError } from "../../core/errors.js";
import type { Finding } from "../../core/finding.js";
import { counted } from "../../core/text/quantity.js";
import type { TransportFault } from "../../api/http/transport-error.js";
import type { LookupWrapper } from "../types.js";
import type { OutageOptions } from "./outage.js";

/** Faults after a connection was made. */
const connected: ReadonlySet<string | undefined> = new Set<TransportFault>([
  "connection_reset",
  "timeout",
]);

/**
 * Ends the run if a lookup uses up its attempts before the service has ever answered: the address is
 * wrong or nothing runs there, and thousands of failed rows would say no more. A single attempt that was
 * connected tells too little; if all go that way, the circuit breaker ends the run.
 *
 * @throws FatalError `service_unreachable`
 */
export function failFast(options: Pick<OutageOptions, "address" | "answered">): LookupWrapper {
  const judged = (finding: Finding): Finding => {
    if (finding.status === "failed" && finding.httpStatus === null && !options.answered()) {
      const { code, message = "" } = finding.error ?? {};
      if (finding.attempts === 1 && connected.has(code)) return finding;
      const [, remedy] = transportCodes[code as TransportFault] ?? transportCodes.connect_failed;
      throw new FatalError(
        "service_unreachable",
        `no answer from ${options.address} after ${counted(finding.attempts, "attempt")}: ${message}`,
        { hint: remedy },
      );
    }
    return finding;
  };
  return (next) => (item, lookupOptions) => {
    const finding = next(item, lookupOptions);
    // After the first answer there is nothing left to check.
    return options.answered() ? finding : finding.then(judged);
  };
}
