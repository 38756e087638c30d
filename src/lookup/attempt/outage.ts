import type { Clock } from "../../core/clock.js";
import { transportCodes } from "../../core/error-codes/service-codes.js";
import { AbortGroups } from "../../core/abort.js";
import { FatalError } from "../../core/errors.js";
import type { Attempt } from "../../core/attempt.js";
import type { FindingError } from "../../core/finding.js";
import { FairQueue } from "../pace/fair-queue.js";

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

/** How long a probe that is under way when the patience ends may still take, in milliseconds. */
const lastProbeMs = 1_000;

/** Maximum single sleep in milliseconds: timers accept at most 2^31. */
const longestSleepMs = 3_600_000;

export interface OutageOptions {
  /** How long to keep probing, in milliseconds. */
  readonly patienceMs: number;
  /** Name of the service in messages. */
  readonly address: string;
  /** Whether the service has ever answered. */
  readonly answered: () => boolean;
  readonly clock: Clock;
  /** Makes one of several processes probe for all. @default this one probes */
  readonly probes?: OutageProbes | undefined;
  /** Called when an outage starts and when it ends. */
  readonly onChange?: ((message: string) => void) | undefined;
}

/** Decides which of several processes probes; see `RedisProbes`. */
export interface OutageProbes {
  /** Whether this process may probe now; no other one takes over for `forMs` milliseconds. */
  may(forMs: number): Promise<boolean>;
  /** Reports the end of the outage. */
  answered(): void;
}

/** How often a process asks whether it may probe, and how long a probe may take, in milliseconds. */
const othersProbe = { askMs: 1_000, longestMs: 60_000 };

/** An outage in progress. */
interface OpenOutage {
  /** Whether a probe is scheduled or under way. */
  probing: boolean;
  pauseMs: number;
  lastError: FindingError | null;
  /** Ends the pause before the next probe. */
  pause: AbortController | null;
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
  readonly #aborts = new AbortGroups();

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** True during an outage. */
  get open(): boolean {
    return this.#open !== null;
  }

  /** Reports an answer. */
  succeeded(): void {
    this.#errors = 0;
    if (this.#open === null) return;
    this.#open.pause?.abort();
    this.#open = null;
    this.#options.probes?.answered();
    const seconds = Math.round((this.#options.clock.monotonic() - this.#since) / 1000);
    this.#options.onChange?.(
      `${this.#options.address} answers again after ${seconds} s; the run continues`,
    );
    this.#wake();
  }

  /** Reports a retryable error. */
  failed({ finding, again }: Attempt): void {
    const now = this.#options.clock.monotonic();
    this.#heldUntil = Math.max(this.#heldUntil, now + (again?.afterMs ?? 0));
    if (this.#errors++ === 0) this.#since = now;
    const lastError = finding.error;
    if (this.#open !== null) {
      this.#open.lastError = lastError;
    } else if (this.#isOutage(now) || this.#isUnresolved(lastError)) {
      this.#open = { probing: false, pauseMs: probeAfter.firstMs, lastError, pause: null };
      this.#options.onChange?.(
        `nothing but errors from ${this.#options.address} (${textOf(lastError)}); the run waits and probes it`,
      );
    }
  }

  /** Whether the host name has never been resolved. */
  #isUnresolved(error: FindingError | null): boolean {
    return error?.code === "dns_failure" && !this.#options.answered();
  }

  #isOutage(now: number): boolean {
    if (this.#errors >= outageAfter.atOnce) return true;
    return this.#errors >= outageAfter.errors && now - this.#since >= outageAfter.ms;
  }

  /**
   * Resolves when an attempt may start: to null without an outage, or to the outage if the attempt is a
   * probe. Pass that to `probed` afterwards.
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
      const patienceMs = this.#giveUpWhenTooLong(outage.lastError);
      try {
        await this.#pause(outage, Math.min(outage.pauseMs, patienceMs), signal);
        if (this.#open !== outage) continue;
        await this.#mayProbe(outage, signal);
      } catch (error) {
        this.probed(outage);
        throw error;
      }
      outage.pauseMs = Math.min(outage.pauseMs * 2, probeAfter.mostMs);
      return outage;
    }
    return null;
  }

  /** Resolves after a time, or when the outage ends. */
  async #pause(outage: OpenOutage, ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const pause = new AbortController();
    outage.pause = pause;
    const leave = this.#aborts.join(signal, pause);
    const slept = this.#options.clock.sleep(ms, pause.signal);
    await slept.catch(() => signal.throwIfAborted()).finally(leave);
  }

  /** Resolves when no other process probes instead, or when one of them got an answer. */
  async #mayProbe(outage: OpenOutage, signal: AbortSignal): Promise<void> {
    const { probes, clock } = this.#options;
    if (probes === undefined) return;
    while (!(await probes.may(2 * outage.pauseMs + othersProbe.longestMs))) {
      this.#giveUpWhenTooLong(outage.lastError);
      await clock.sleep(othersProbe.askMs, signal);
      if (this.#open !== outage) return;
    }
  }

  /**
   * Settles like a probe, which may wait for the pace or for its answer, but no longer than the patience
   * lasts or the service asked to wait before.
   *
   * @throws FatalError `service_outage`, `service_unreachable`
   */
  inTime<T>(outage: OpenOutage, probe: Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const timer = new AbortController();
    const late = async (): Promise<T> => {
      let ms = Math.max(this.#patienceLeft(outage.lastError), this.#heldUntil - clock.monotonic());
      while (this.#open === outage) {
        const left = Math.min(longestSleepMs, Math.max(0, ms));
        await clock.sleep(left + lastProbeMs, timer.signal);
        if (this.#open === outage) ms = this.#giveUpWhenTooLong(outage.lastError);
      }
      return probe;
    };
    return Promise.race([probe, late()]).finally(() => timer.abort());
  }

  /** Reports that a probe has ended, whatever its outcome. */
  probed(outage: OpenOutage): void {
    outage.probing = false;
    this.#wake();
  }

  /** Milliseconds; 0 or less if none is left. */
  #patienceLeft(lastError: FindingError | null): number {
    const { clock, answered, patienceMs } = this.#options;
    const atFirst = neverAnswered[this.#isUnresolved(lastError) ? "unresolvedMs" : "mostMs"];
    const patience = answered() ? patienceMs : Math.min(patienceMs, atFirst);
    return this.#since + patience - clock.monotonic();
  }

  /** @returns the patience left, in milliseconds */
  #giveUpWhenTooLong(lastError: FindingError | null): number {
    const left = this.#patienceLeft(lastError);
    if (left > 0) return left;
    const { clock, answered, address } = this.#options;
    const seconds = Math.round((clock.monotonic() - this.#since) / 1000);
    this.#ended = answered()
      ? new FatalError(
          "service_outage",
          `nothing but errors from ${address} for ${seconds} s: ${textOf(lastError)}`,
          { hint: "continue with --resume when the service is back" },
        )
      : new FatalError(
          "service_unreachable",
          `no answer from ${address} for ${seconds} s: ${textOf(lastError)}`,
          {
            hint: this.#isUnresolved(lastError)
              ? transportCodes.dns_failure[1]
              : "check the address and that the service runs",
          },
        );
    this.#wake();
    throw this.#ended;
  }

  #wake(): void {
    for (let { size } = this.#waiting; size > 0; size--) this.#waiting.release();
  }
}

function textOf(error: FindingError | null): string {
  return error?.message ?? "no answer";
}
