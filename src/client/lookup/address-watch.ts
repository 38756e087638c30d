import type { AttemptReport, Endpoint } from "../api/types.js";
import { FatalError } from "../../core/errors.js";
import { transportCodes } from "../../core/row-codes.js";
import type { Finding } from "../../core/finding.js";
import type { RequestCounts } from "../../core/manifest.js";
import { counted } from "../../core/wording/quantity.js";
import type { TransportFault } from "../api/http/transport-error.js";
import type { LookupWrapper } from "./types.js";

/** Number of answers after which an endpoint counts as missing. */
const enough = 20;

/** Requests by endpoint, then by HTTP status or error code. */
export type RequestOutcomes = Readonly<Record<string, Pick<RequestCounts, "outcomes">>>;

/**
 * Detects an address where the service is not: everything is answered with 404. Endpoints count
 * separately, and any other answer clears an endpoint for good.
 */
export class AddressWatch {
  readonly #address: string;
  readonly #cleared = new Set<string>();
  readonly #notFound = new Map<string, number>();

  /**
   * @param address base address of the service, as shown in messages
   * @param before requests of the same run before it was resumed
   */
  constructor(address: string, before: RequestOutcomes = {}) {
    this.#address = address;
    for (const [endpoint, { outcomes }] of Object.entries(before)) {
      const statuses = Object.keys(outcomes).filter((outcome) => /^\d+$/.test(outcome));
      if (statuses.some((status) => status !== "404")) this.#cleared.add(endpoint);
      else if (statuses.length > 0) this.#notFound.set(endpoint, outcomes["404"] ?? 0);
    }
  }

  /** True once any endpoint has given an answer other than 404. */
  get found(): boolean {
    return this.#cleared.size > 0;
  }

  /**
   * Records a finished request.
   *
   * @throws FatalError `wrong_service` if the first 20 answers of its endpoint were all 404
   */
  note({ endpoint, httpStatus }: Pick<AttemptReport, "endpoint" | "httpStatus">): void {
    if (httpStatus === null || this.#cleared.has(endpoint)) return;
    if (httpStatus !== 404) {
      this.#cleared.add(endpoint);
      this.#notFound.delete(endpoint);
      return;
    }
    const count = (this.#notFound.get(endpoint) ?? 0) + 1;
    this.#notFound.set(endpoint, count);
    if (count >= enough) throw this.#wrongService(endpoint);
  }

  /** One sentence per endpoint that has answered only 404, but too few times to be sure. */
  warnings(): readonly string[] {
    return [...this.#notFound].map(
      ([endpoint, count]) =>
        `${count === 1 ? "the only answer" : `all ${count} answers`} of ${endpoint} at ${this.#address} ${count === 1 ? "was" : "were"} 404 Not Found: ${this.#question()}`,
    );
  }

  #wrongService(endpoint: Endpoint): FatalError {
    return new FatalError(
      "wrong_service",
      `the first ${enough} answers of ${endpoint} at ${this.#address} were all 404 Not Found`,
      { hint: `${this.#question()} correct --intel-url and run again` },
    );
  }

  #question(): string {
    return /\/beta\/?$/.test(this.#address)
      ? "is this the right service, whose address ends in /beta?"
      : "does the address end in /beta?";
  }

  /**
   * Ends the run if a lookup uses up its attempts before the service has ever answered: the address is
   * wrong or nothing runs there, and thousands of failed rows would say no more. A single attempt that was
   * connected proves nothing; if all fail that way, the circuit breaker ends the run.
   *
   * @throws FatalError `service_unreachable`
   */
  failFast(answered: () => boolean): LookupWrapper {
    const judged = (finding: Finding): Finding => {
      const { status, httpStatus, attempts, error } = finding;
      if (status !== "failed" || httpStatus !== null || answered()) return finding;
      const { code, message = "" } = error ?? {};
      if (attempts === 1 && connected.has(code)) return finding;
      const [, hint] = transportCodes[code as TransportFault] ?? transportCodes.connect_failed;
      const after = counted(attempts, "attempt");
      const what = `no answer from ${this.#address} after ${after}: ${message}`;
      throw new FatalError("service_unreachable", what, { hint });
    };
    return (next) => (item, options) => {
      const finding = next(item, options);
      // After the first answer there is nothing left to check.
      return answered() ? finding : finding.then(judged);
    };
  }
}

/** Faults after a connection was made. */
const connected: ReadonlySet<string | undefined> = new Set<TransportFault>([
  "connection_reset",
  "timeout",
]);
