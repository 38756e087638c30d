import type { Clock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";
import { Limits } from "./limits.js";

/**
 * Timer lateness in milliseconds that is made up for at once. Together with the speed of the catch-up,
 * it leaves part of the 5% for shifts by connections and the network.
 */
const atOnceMs = 16;

/** After this long without a request, and at the start, there is no backlog to catch up with. */
const idleMs = 1_000;

/**
 * The first request after that opens a connection and may arrive this much later than it was sent; the
 * following requests keep that distance so that they don't arrive together.
 */
const leadMs = 40;

/** When the next request is due in a window: on average, and while catching up. */
interface Due {
  readonly averageMs: number;
  readonly fastMs: number;
}

/**
 * The slots of one process: the generic cell rate algorithm (ITU-T I.371, annex A). Requests are spaced
 * evenly, so no window edge lets two windows' worth through. A late request doesn't delay those behind
 * it: two cells a window, one at the rate with a wide tolerance and a slightly faster one with a narrow
 * tolerance, allow catching up, while no second has more than 105% of the rate in whole requests. Rates
 * below 20 per second are never exceeded.
 */
export class OwnSlots {
  readonly limits: Limits;
  readonly #due = new Map<string, Due>();
  #lastMs = -2 * idleMs;

  constructor(options: {
    readonly rates: readonly Rate[];
    readonly clock: Pick<Clock, "monotonic">;
    readonly random?: () => number;
  }) {
    const { rates, clock, random } = options;
    const lateMs = (roomMs: number): number => Math.min(atOnceMs, roomMs);
    this.limits = new Limits({ rates, random, now: () => clock.monotonic(), lateMs });
  }

  /** Milliseconds until the next request may start; 0 or less if immediately. */
  waitAt(now: number): number {
    let at = this.limits.pausedUntil;
    for (const { averageMs, fastMs } of this.#due.values()) at = Math.max(at, averageMs, fastMs);
    return at - now;
  }

  /** Uses a slot. Call only after `waitAt` returned 0 or less. */
  spend(now: number): void {
    const { limits } = this;
    const lastMs = this.#lastMs;
    this.#lastMs = now;
    limits.sent++;
    for (const { name, interval, backlog, fast, late } of limits.windows()) {
      const { averageMs, fastMs } = this.#due.get(name) ?? { averageMs: lastMs, fastMs: lastMs };
      let [average, soonest] = [now - backlog, now - late];
      if (name === "found") limits.idleMs += Math.max(0, average - averageMs);
      else if (now - lastMs > idleMs) [average, soonest] = [now, late > 0 ? now + leadMs : now];
      this.#due.set(name, {
        averageMs: Math.max(averageMs, average) + interval,
        fastMs: Math.max(fastMs, soonest) + fast,
      });
    }
  }
}
