import type { Clock } from "../../core/clock.js";
import { EarlyEndError } from "../../core/errors.js";
import type { Deadline } from "../../core/options.js";

/**
 * How a run comes to its end, in this order:
 *
 *     interrupted  from outside: Ctrl-C, or the caller's signal
 *     stop         no further row is started, and lookups no longer wait for their turn
 *     requests     open requests are cancelled
 *     over         the run has ended, well or not: its timers end
 *
 * An interrupt stops the run. So do a spent budget, a deadline and every failure, by `end`.
 */
export class RunSignals {
  readonly interrupted: AbortSignal;
  readonly #stop = new AbortController();
  readonly #requests = new AbortController();
  readonly #over = new AbortController();
  readonly stop: AbortSignal = this.#stop.signal;
  readonly requests: AbortSignal = this.#requests.signal;
  readonly over: AbortSignal = this.#over.signal;

  constructor(interrupted: AbortSignal) {
    this.interrupted = interrupted;
    const onInterrupt = (): void => this.end(interrupted.reason);
    if (interrupted.aborted) onInterrupt();
    interrupted.addEventListener("abort", onInterrupt, { once: true, signal: this.over });
  }

  /** Stops the run. The first reason counts. */
  end(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Cancels the requests that are open. */
  cancelRequests(reason: unknown): void {
    this.end(reason);
    this.#requests.abort(reason);
  }

  close(): void {
    this.#over.abort();
  }
}

/** A long sleep is cut into these, so that a clock that is set or a machine that slept is noticed. */
const stepMs = 30_000;

/** Ends a run at a time of day, or after a length of time. Resolves when aborted before. */
export async function endAt(
  deadline: Deadline,
  clock: Clock,
  end: (error: EarlyEndError) => void,
  signal: AbortSignal,
): Promise<void> {
  const left = timeLeft(deadline, clock);
  try {
    for (let ms = left(); ms > 0; ms = left()) await clock.sleep(Math.min(ms, stepMs), signal);
  } catch {
    return;
  }
  end(new EarlyEndError("deadline_reached", `the deadline ${deadline.text} is reached`));
}

/** Milliseconds from now on: after a length of time by the monotonic clock, else by the wall's. */
function timeLeft(deadline: Deadline, clock: Clock): () => number {
  if ("afterMs" in deadline) {
    const end = clock.monotonic() + deadline.afterMs;
    return () => end - clock.monotonic();
  }
  const end = nextTimeOfDay(deadline, clock.now());
  return () => end - clock.now();
}

/** The next moment, after `now`, at which local clocks show this time. */
export function nextTimeOfDay(time: { hours: number; minutes: number }, now: number): number {
  const moment = new Date(now);
  moment.setHours(time.hours, time.minutes, 0, 0);
  if (moment.getTime() <= now) {
    moment.setDate(moment.getDate() + 1);
    moment.setHours(time.hours, time.minutes, 0, 0);
  }
  return moment.getTime();
}
