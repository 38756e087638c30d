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
