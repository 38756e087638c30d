import type { AcceptedRateState } from "./limit-snapshot.js";

/** Period over which answers are counted, and its parts. */
const measureMs = 1_000;
const buckets = 10;

/** Accepted answers per second, as of the last second. Pauses don't count as time. */
export class AcceptedRate {
  #counts = Array.from({ length: buckets }, () => 0);
  /** Number of the current part of time. */
  #bucket = 0;
  /** Recent periods in which nothing was sent, in order and disjoint. */
  #pauses: { from: number; until: number }[] = [];

  /** @param saved counts to continue from; see `snapshot` */
  constructor(saved?: AcceptedRateState) {
    if (saved === undefined) return;
    this.#counts = [...saved.counts];
    this.#bucket = saved.bucket;
    this.#pauses = [...saved.pauses];
  }

  snapshot(): AcceptedRateState {
    return { counts: [...this.#counts], bucket: this.#bucket, pauses: [...this.#pauses] };
  }

  /** Reports an accepted answer. */
  accepted(now: number): void {
    this.#turnTo(now);
    const at = this.#bucket % buckets;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /**
   * Reports that nothing is sent from `now` until `until`.
   *
   * @returns milliseconds by which that extends the pauses reported before
   */
  paused(now: number, until: number): number {
    const last = this.#pauses.at(-1);
    const from = Math.max(now, last?.until ?? now);
    if (last !== undefined && now <= last.until) last.until = Math.max(last.until, until);
    else this.#pauses.push({ from: now, until });
    this.#pauses = this.#pauses.filter((pause) => pause.until > now - measureMs);
    return Math.max(0, until - from);
  }

  /** The rate in answers per second. */
  at(now: number): number {
    this.#turnTo(now);
    const accepted = this.#counts.reduce((sum, n) => sum + n, 0);
    let active = measureMs;
    for (const { from, until } of this.#pauses) {
      active -= Math.max(0, Math.min(now, until) - Math.max(from, now - measureMs));
    }
    return (accepted / Math.max(active, measureMs / 4)) * 1000;
  }

  /** Drops counts that are too old. */
  #turnTo(now: number): void {
    const bucket = Math.floor(now / (measureMs / buckets));
    const passed = Math.min(buckets, bucket - this.#bucket);
    for (let i = 1; i <= passed; i++) this.#counts[(this.#bucket + i) % buckets] = 0;
    if (passed === buckets) this.#counts.fill(0);
    this.#bucket = bucket;
  }
}
