import { type Clock, systemClock } from "../../core/clock.js";
import { EarlyEndError } from "../../core/errors.js";
import type { EnrichJob } from "./types.js";

type Deadline = NonNullable<EnrichJob["settings"]["run"]["deadline"]>;

interface LimitedJob extends Pick<EnrichJob, "signal" | "clock"> {
  readonly settings: { readonly run: { readonly deadline?: Deadline | undefined } };
}

/**
 * Stages in which a run ends, in this order:
 *
 * - `interrupted`: a request from outside (Ctrl-C or the caller's signal)
 * - `stop`: no more rows start, and queued lookups are dropped
 * - `requests`: open requests are cancelled
 * - `over`: the run has ended, successfully or not, and its timers stop
 *
 * An interrupt triggers `stop`. So do a spent budget, a deadline and every failure, through `end`.
 */
export class RunSignals {
  readonly interrupted: AbortSignal;
  readonly #stop = new AbortController();
  readonly #requests = new AbortController();
  readonly #over = new AbortController();
  readonly stop: AbortSignal;
  readonly requests: AbortSignal = this.#requests.signal;

  /** Interrupted by the signal of a run, and ended at its deadline. Close them with the run. */
  constructor({ signal: interrupted, settings, clock = systemClock }: LimitedJob) {
    this.interrupted = interrupted;
    this.stop = AbortSignal.any([interrupted, this.#stop.signal]);
    const { deadline } = settings.run;
    if (deadline !== undefined) void this.#endAt(deadline, clock);
  }

  /** Stops the run. The first reason wins. */
  end(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Cancels the open requests. */
  cancelRequests(reason: unknown): void {
    this.end(reason);
    this.#requests.abort(reason);
  }

  close(): void {
    this.#over.abort();
  }

  /** Ends the run at a time of day or after a duration, unless it is over before. */
  async #endAt(deadline: Deadline, clock: Clock): Promise<void> {
    // A duration goes by the monotonic clock, a time of day by the wall clock.
    const isDuration = "afterMs" in deadline;
    const now = (): number => (isDuration ? clock.monotonic() : clock.now());
    const until = isDuration ? now() + deadline.afterMs : nextTimeOfDay(deadline, now());
    try {
      while (until > now()) await clock.sleep(Math.min(until - now(), stepMs), this.#over.signal);
    } catch {
      return;
    }
    this.end(new EarlyEndError("deadline_reached", `the deadline ${deadline.text} has passed`));
  }
}

/** Long sleeps are split into steps of this length, to notice clock changes and system suspend. */
const stepMs = 30_000;

/** The first moment after `now` at which local clocks show this time. */
function nextTimeOfDay(time: { hours: number; minutes: number }, now: number): number {
  const moment = new Date(now);
  moment.setHours(time.hours, time.minutes, 0, 0);
  if (moment.getTime() <= now) {
    moment.setDate(moment.getDate() + 1);
    moment.setHours(time.hours, time.minutes, 0, 0);
  }
  return moment.getTime();
}
