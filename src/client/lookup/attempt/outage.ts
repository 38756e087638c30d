import type { Clock } from "../../../core/clock.js";
import { transportCodes } from "../../../core/row-codes.js";
import { FatalError, continueRun } from "../../../core/errors.js";
import type { Attempt, FindingError } from "../../../core/finding.js";
import { FairQueue } from "../../pace/slots.js";
import type { AttemptLookup, AttemptWrapper } from "../types.js";

/**
 * Consecutive errors that make an outage: `atOnce`, or `errors` over at least `ms` milliseconds. Must
 * trigger before lookups have used up their retries.
 */
const outageAfter = { atOnce: 64, errors: 16, ms: 2_000 };

/** Pauses between probes in milliseconds; each is twice the previous one. */
const probeAfter = { firstMs: 1_000, mostMs: 60_000 };

/**
 * Patience in milliseconds with a service that has never answered: most likely its address is wrong, all
 * the more if its host name cannot be resolved.
 */
const neverAnswered = { mostMs: 15_000, unresolvedMs: 2_000 };

/** Maximum single sleep in milliseconds: timers accept at most 2^31. */
const longestSleepMs = 3_600_000;

interface OutageOptions {
  /** How long to keep probing, in milliseconds. */
  readonly patienceMs: number;
  readonly address: string;
  readonly answered: () => boolean;
  readonly clock: Clock;
  readonly onChange?: ((message: string) => void) | undefined;
}

interface OpenOutage {
  isProbed: boolean;
  pauseMs: number;
  lastError: FindingError | null;
  readonly over: AbortController;
}

/**
 * A circuit breaker for all lookups of a run. While every request fails, no lookup uses up its
 * retries: all wait while one probes the service at growing intervals. An answer lets all continue;
 * without one for too long, the run ends and can be resumed.
 */
export class Outage {
  readonly #options: OutageOptions;
  #errors = 0;
  /** Monotonic time of the first of these errors. */
  #since = 0;
  #open: OpenOutage | null = null;
  #ended: FatalError | null = null;
  /** Monotonic time until which the service asked to wait. */
  #heldUntil = 0;
  readonly #waiting = new FairQueue<void>();

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  get open(): boolean {
    return this.#open !== null;
  }

  /** Holds attempts back during an outage, so that no lookup fails because of it. */
  readonly hold: AttemptWrapper = (next) => {
    const inTurn: AttemptLookup = async (item, options) => {
      for (;;) {
        const attempt = await this.#turn(options.signal, () => next(item, options));
        if (this.#isPassedOn(attempt)) return attempt;
      }
    };
    return (item, options) =>
      this.open
        ? inTurn(item, options)
        : next(item, options).then((attempt) =>
            this.#isPassedOn(attempt) ? attempt : inTurn(item, options),
          );
  };

  /** Judges by an attempt whether there is an outage; false if the attempt has to be repeated. */
  #isPassedOn(attempt: Attempt): boolean {
    const policy = attempt.again?.policy;
    if (policy === "transient" || policy === "throttled") {
      this.#failed(attempt);
      return !this.open;
    }
    this.#succeeded();
    return true;
  }

  #succeeded(): void {
    this.#errors = 0;
    if (this.#open === null) return;
    this.#open.over.abort();
    this.#open = null;
    const { clock, onChange, address } = this.#options;
    const seconds = Math.round((clock.monotonic() - this.#since) / 1000);
    onChange?.(`${address} answers again after ${seconds} s; the run continues`);
    this.#wake();
  }

  #failed({ finding: { error }, again }: Attempt): void {
    const { clock, onChange, address } = this.#options;
    const now = clock.monotonic();
    this.#heldUntil = Math.max(this.#heldUntil, now + (again?.afterMs ?? 0));
    if (this.#errors++ === 0) this.#since = now;
    if (this.#open !== null) {
      this.#open.lastError = error;
    } else if (
      this.#errors >= outageAfter.atOnce ||
      (this.#errors >= outageAfter.errors && now - this.#since >= outageAfter.ms) ||
      this.#isUnresolved(error)
    ) {
      const { firstMs: pauseMs } = probeAfter;
      this.#open = { isProbed: false, pauseMs, lastError: error, over: new AbortController() };
      onChange?.(
        `nothing but errors from ${address} (${textOf(error)}); the run waits and probes it`,
      );
    }
  }

  /** Whether the host name has never been resolved. */
  #isUnresolved(error: FindingError | null): boolean {
    return error?.code === "dns_failure" && !this.#options.answered();
  }

  /**
   * Makes an attempt: after the outage, or as its probe.
   *
   * @throws FatalError `service_outage`, `service_unreachable`; the signal's reason
   */
  async #turn(signal: AbortSignal, attempt: () => Promise<Attempt>): Promise<Attempt> {
    while (this.#open?.isProbed === true) await this.#waiting.enqueue(signal);
    if (this.#ended !== null) throw this.#ended;
    const outage = this.#open;
    if (outage === null) return attempt();
    outage.isProbed = true;
    const done = new AbortController();
    const probe = async (): Promise<Attempt> => {
      const ends = AbortSignal.any([signal, done.signal]);
      const { pauseMs, over } = outage;
      outage.pauseMs = Math.min(2 * pauseMs, probeAfter.mostMs);
      const isOver = AbortSignal.any([ends, over.signal]);
      await this.#options.clock.sleep(pauseMs, isOver).catch(() => ends.throwIfAborted());
      return attempt();
    };
    try {
      return await Promise.race([probe(), this.#patience(outage, done.signal)]);
    } finally {
      done.abort();
      outage.isProbed = false;
      this.#wake();
    }
  }

  /**
   * Ends the run when an outage lasts longer than the patience and the wait that the service asked for,
   * whatever its probe waits for.
   */
  async #patience(outage: OpenOutage, signal: AbortSignal): Promise<never> {
    const { clock } = this.#options;
    for (;;) {
      const left = this.#open === outage ? this.#patienceLeft(outage) : longestSleepMs;
      if (left <= 0) break;
      await clock.sleep(Math.min(left, longestSleepMs), signal);
    }
    throw (this.#ended = this.#giveUp(outage.lastError));
  }

  #patienceLeft({ lastError }: OpenOutage): number {
    const { clock, answered, patienceMs } = this.#options;
    const atFirst = neverAnswered[this.#isUnresolved(lastError) ? "unresolvedMs" : "mostMs"];
    const patience = answered() ? patienceMs : Math.min(patienceMs, atFirst);
    return Math.max(this.#since + patience, this.#heldUntil) - clock.monotonic();
  }

  #giveUp(error: FindingError | null): FatalError {
    const { clock, answered, address } = this.#options;
    const seconds = Math.round((clock.monotonic() - this.#since) / 1000);
    if (answered()) {
      return new FatalError(
        "service_outage",
        `nothing but errors from ${address} for ${seconds} s: ${textOf(error)}`,
        { hint: `${continueRun} when the service is back` },
      );
    }
    const message = `no answer from ${address} for ${seconds} s: ${textOf(error)}`;
    const hint = this.#isUnresolved(error)
      ? transportCodes.dns_failure[1]
      : "check the address and that the service runs";
    return new FatalError("service_unreachable", message, { hint });
  }

  #wake(): void {
    for (let { size } = this.#waiting; size > 0; size--) this.#waiting.release();
  }
}

function textOf(error: FindingError | null): string {
  return error?.message ?? "no answer";
}
