import type { Clock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";

/** Requests that one process may send until a deadline. It returns what it doesn't use. */
export interface Reservation {
  /** 0 if the quota is used up. */
  readonly permits: number;
  readonly id: string;
  /** When to ask again, in milliseconds since 1970; only if `permits` is 0. */
  readonly nextAtMs: number;
  /** True if another process held the lock and nothing changed. */
  readonly busy?: boolean;
}

export interface ReserveOptions {
  readonly rate: Rate;
  /** Permits wanted, 1 or more. */
  readonly want: number;
  readonly nowMs: number;
  /** Deadline for using them. They count from then on, for the length of the window. */
  readonly untilMs: number;
  /** An earlier reservation to settle in the same step. */
  readonly before?: { readonly id: string; readonly used: number } | undefined;
}

/** Counts the requests made under a service's quotas, by the names that `quotaName` gives. */
export interface QuotaStore {
  reserve(name: string, options: ReserveOptions): Reservation | Promise<Reservation>;
  /** Settles a reservation: `used` permits were used, all before `nowMs`. */
  settle(name: string, id: string, used: number, nowMs: number): void | Promise<void>;
}

/** Permits are reserved in blocks: a share of the quota, at most this many, for this long. */
const block = { share: 0.01, most: 2_000, ms: 10_000 };

/** Polling interval while a reservation is being stored, in milliseconds. */
const pollMs = 2;

interface Held {
  readonly id: string;
  readonly permits: number;
  used: number;
  readonly until: Deadline;
}

/** By both clocks: the wall clock may jump back, the other stands still while the machine sleeps. */
interface Deadline {
  readonly ms: number;
  readonly monotonicMs: number;
}

interface QuotaOptions {
  readonly rate: Rate;
  readonly store: QuotaStore;
  /** Name under which it is counted; equal names share one count. */
  readonly name: string;
  readonly clock: Clock;
}

/**
 * A limit over an hour or longer: never more than `rate.count` requests in any window of
 * `rate.perMs`, spent as fast as the other limits allow. Uses the wall clock, because it outlives
 * the process.
 *
 * Permits are reserved in blocks with a deadline of a few seconds and count from that deadline,
 * which is later than any use of them, so the quota is never exceeded.
 */
export class Quota {
  readonly rate: Rate;
  readonly #options: QuotaOptions;
  #held: Held | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  /** A reservation in progress. */
  #pending: Promise<void> | null = null;

  constructor(options: QuotaOptions) {
    this.rate = options.rate;
    this.#options = options;
  }

  /** Milliseconds until the next request may start; 0 for now. */
  wait(): number {
    const { clock } = this.#options;
    const nowMs = clock.now();
    const held = this.#held;
    if (this.#pending !== null) return pollMs;
    if (held !== null && held.used < held.permits && this.#inTime(held)) return 0;
    if (nowMs < this.#nextAtMs) return this.#nextAtMs - nowMs;
    const until = { ms: nowMs + block.ms, monotonicMs: clock.monotonic() + block.ms };
    const got = this.#reserve(nowMs, until.ms);
    if (!(got instanceof Promise)) {
      this.#take(got, until);
      return got.permits > 0 ? 0 : Math.max(1, got.nextAtMs - nowMs);
    }
    this.#pending = got.then((reservation) => {
      this.#pending = null;
      this.#take(reservation, until);
    });
    return pollMs;
  }

  /** Spends one request. Call only after `wait` returned 0. */
  spend(): void {
    if (this.#held !== null) this.#held.used++;
  }

  /** Returns unused permits at the end of a run. */
  async giveBack(): Promise<void> {
    await this.#pending;
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    const { store, name, clock } = this.#options;
    await store.settle(name, held.id, held.used, clock.now());
  }

  #reserve(nowMs: number, untilMs: number): Reservation | Promise<Reservation> {
    const { rate, store, name } = this.#options;
    const held = this.#held;
    const want = Math.min(block.most, Math.ceil(rate.count * block.share));
    const before = held === null ? undefined : { id: held.id, used: held.used };
    return store.reserve(name, { rate, want, nowMs, untilMs, before });
  }

  #take({ id, permits, nextAtMs, busy = false }: Reservation, until: Deadline): void {
    if (permits === 0) this.#nextAtMs = nextAtMs;
    // A busy store settled nothing: keep the block to settle it later.
    if (!busy) this.#held = permits === 0 ? null : { id, permits, used: 0, until };
  }

  #inTime({ until }: Held): boolean {
    const { clock } = this.#options;
    return clock.now() < until.ms && clock.monotonic() < until.monotonicMs;
  }
}

/** Name under which a rate is counted; each window length has its own count. */
export function quotaName(scope: string, { perMs }: Rate): string {
  return `${scope} ${perMs}`;
}

/** The window in milliseconds with which `quotaName` ends a name. */
export function windowOf(name: string): number {
  return Number(name.slice(name.lastIndexOf(" ") + 1));
}
