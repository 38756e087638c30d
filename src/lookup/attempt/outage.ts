import type { Clock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import type { Attempt } from "../../core/attempt.js";
import type { Finding } from "../../core/finding.js";
import { FairQueue } from "../pace/fair-queue.js";
import type { AttemptLookup, AttemptWrapper, LookupWrapper } from "../types.js";

/**
 * Errors in a row that make an outage: so many at once, or fewer over so many milliseconds. It has to
 * be noticed before lookups have used up their retries.
 */
const outageAfter = { atOnce: 64, errors: 16, ms: 2_000 };

/** Pauses between probes, in milliseconds: doubled from one to the next. */
const probeAfter = { firstMs: 1_000, mostMs: 60_000 };

/** How long a service is waited for that never answered: its address is wrong, most likely. */
const neverAnsweredMs = 15_000;

export interface OutageOptions {
  /** How long to keep probing, in milliseconds. */
  readonly patienceMs: number;
  /** What the service's address is called in messages. */
  readonly address: string;
  /** True once the service answered anything at all. */
  readonly answered: () => boolean;
  readonly clock: Clock;
  /** Told when an outage begins and when it is over. */
  readonly onChange?: ((message: string) => void) | undefined;
}

/** An outage while it lasts. */
interface OpenOutage {
  /** Somebody waits to make the next attempt, or makes it. */
  probing: boolean;
  pauseMs: number;
  lastError: string;
}

/**
 * A circuit breaker over all lookups of a run. While nothing but errors comes back, no lookup uses
 * up its retries: all wait, and one of them probes the service at growing intervals. When one
 * is answered, all continue; when none is for too long, the run ends and can be resumed.
 */
export class Outage {
  readonly #options: OutageOptions;
  #errors = 0;
  /** When the first of these errors came, by the monotonic clock. */
  #since = 0;
  #open: OpenOutage | null = null;
  #ended: FatalError | null = null;
  readonly #waiting = new FairQueue<void>();

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** True while the service is taken for gone. */
  get open(): boolean {
    return this.#open !== null;
  }

  /** The service answered. */
  succeeded(): void {
    this.#errors = 0;
    if (this.#open === null) return;
    this.#open = null;
    const seconds = Math.round((this.#options.clock.monotonic() - this.#since) / 1000);
    this.#options.onChange?.(
      `${this.#options.address} answers again after ${seconds} s; the run goes on`,
    );
    this.#wake();
  }

  /** An attempt brought an error that may pass. */
  failed({ finding }: Attempt): void {
    const now = this.#options.clock.monotonic();
    if (this.#errors++ === 0) this.#since = now;
    const lastError = finding.error?.message ?? "no answer";
    if (this.#open !== null) {
      this.#open.lastError = lastError;
    } else if (this.#isOutage(now)) {
      this.#open = { probing: false, pauseMs: probeAfter.firstMs, lastError };
      this.#options.onChange?.(
        `nothing but errors from ${this.#options.address} (${lastError}); the run waits and probes it`,
      );
    }
  }

  #isOutage(now: number): boolean {
    if (this.#errors >= outageAfter.atOnce) return true;
    return this.#errors >= outageAfter.errors && now - this.#since >= outageAfter.ms;
  }

  /**
   * Resolves when an attempt may be made: to null when the outage is over; when it is this one's turn
   * to probe, to what `probed` is to be told when the probe has ended.
   *
   * @throws FatalError `service_outage`, `service_unreachable`; the signal's reason
   */
  async turn(signal: AbortSignal): Promise<OpenOutage | null> {
    while (this.#open !== null) {
      if (this.#ended !== null) throw this.#ended;
      if (this.#open.probing) {
        await this.#waiting.enqueue(signal);
        continue;
      }
      const outage = this.#open;
      outage.probing = true;
      this.#giveUpWhenTooLong(outage.lastError);
      try {
        await this.#options.clock.sleep(outage.pauseMs, signal);
      } catch (error) {
        this.probed(outage);
        throw error;
      }
      outage.pauseMs = Math.min(outage.pauseMs * 2, probeAfter.mostMs);
      return outage;
    }
    return null;
  }

  /** A probe has ended, however it did; another one may follow. */
  probed(outage: OpenOutage): void {
    outage.probing = false;
    this.#wake();
  }

  #giveUpWhenTooLong(lastError: string): void {
    const { clock, answered, patienceMs, address } = this.#options;
    const known = answered();
    const patience = known ? patienceMs : Math.min(patienceMs, neverAnsweredMs);
    const elapsed = clock.monotonic() - this.#since;
    if (elapsed < patience) return;
    const seconds = Math.round(elapsed / 1000);
    this.#ended = known
      ? new FatalError(
          "service_outage",
          `nothing but errors from ${address} for ${seconds} s: ${lastError}`,
          { hint: "continue with --resume when the service is back" },
        )
      : new FatalError(
          "service_unreachable",
          `no answer from ${address} for ${seconds} s: ${lastError}`,
          { hint: "check the address and that the service runs" },
        );
    this.#wake();
    throw this.#ended;
  }

  #wake(): void {
    for (let { size } = this.#waiting; size > 0; size--) this.#waiting.release();
  }
}

/** Holds attempts back while the service is gone, so that no lookup fails because of it. */
export function guarded(outage: Outage): AttemptWrapper {
  return (next) => {
    const inTurn: AttemptLookup = async (item, options) => {
      for (;;) {
        const probe = await outage.turn(options.signal);
        try {
          const attempt = await next(item, options);
          if (note(outage, attempt)) return attempt;
        } finally {
          if (probe !== null) outage.probed(probe);
        }
      }
    };
    return (item, options) => {
      if (outage.open) return inTurn(item, options);
      return next(item, options).then((attempt) =>
        note(outage, attempt) ? attempt : inTurn(item, options),
      );
    };
  };
}

/** Tells the outage the outcome of an attempt; false when the attempt is to be made again. */
function note(outage: Outage, attempt: Attempt): boolean {
  const policy = attempt.again?.policy;
  if (policy !== "transient" && policy !== "throttled") {
    outage.succeeded();
    return true;
  }
  outage.failed(attempt);
  return !outage.open;
}

/**
 * Ends the run when the first lookup has used up its attempts and the service never answered at
 * all: the address is wrong or nothing is there, and thousands of failed rows would say no more.
 *
 * @throws FatalError `service_unreachable`
 */
export function reachable(options: Pick<OutageOptions, "address" | "answered">): LookupWrapper {
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
