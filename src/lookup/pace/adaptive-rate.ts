import { ThrottleNoise } from "./throttle-pauses.js";

/** A throttle answer counts as a limit when so many of the answers of late are such. */
const strained = { share: 0.035, whileSearching: 0.02, least: 3, few: 10 };

/**
 * What a cut leaves of the rate at which answers came, how long until that rate is back, and the
 * shortest time from one cut to the next: until its effect shows.
 */
const cut = { to: 0.9, backMs: 2_000, apartMs: 500 };

/** Beyond the rate that was right before, the climb is a cube that doubles it in this time. */
const doubledMs = 8_000;

/**
 * A trial for noise is at so much of the rate that was right, and no longer than this; a search below
 * so much of it is one as well.
 */
const trial = { at: 0.5, longestMs: 4_000, below: 0.9 };

/** While no limit is known, the rate doubles in this time. */
const searchMs = 1_000;

/** Where the search begins, if no more was accepted before, in requests a second. */
const searchFrom = 10;

/** Lowest rate, in requests a second. */
const lowest = 1;

/** What timers come late by is caught up with, up to this, in milliseconds. */
const lateMs = 16;

/** The accepted answers of so long are measured, in buckets of a tenth of it. */
const measureMs = 1_000;
const buckets = 10;

/**
 * Finds the rate that a service allows without telling. Nothing is limited until throttle answers
 * come in number; then the rate is cut to somewhat below that at which answers were accepted, comes
 * back to it within seconds, stays near, and probes beyond, ever faster. That is the cubic climb of
 * RFC 9438, as adaptive retries of the AWS SDKs use it, with lengths of time that do not depend on
 * the rate.
 */
export class AdaptiveRate {
  /** Requests a second that were right when it was last cut; null while nothing is limited. */
  #known: number | null = null;
  #cutAt = 0;
  /** True until a limit was met a second time: the first cut follows a burst, which tells little. */
  #searching = true;
  #dueMs = Number.NEGATIVE_INFINITY;
  readonly #accepted = Array.from({ length: buckets }, () => 0);
  #bucket = 0;
  #answers = 0;
  #throttles = 0;
  #notedAt = 0;
  readonly #noise = new ThrottleNoise();
  /** What was accepted when the rate was last cut, in requests a second. */
  #right = 0;
  /** Whether throttle answers come at a much lower rate as well is being tried. */
  #trying: "while searching" | "at half" | null = null;
  /** Pauses before the last cut: answers to what left before it tell nothing of it. */
  #cutTicket = -1;
  /** Times of late in which nothing was sent, in order, one after the other. */
  #pauses: { from: number; until: number }[] = [];

  /** True once a limit was met. */
  get limited(): boolean {
    return this.#known !== null;
  }

  /** True where answers are throttled however slowly the service is asked. */
  get noisy(): boolean {
    return this.#noise.known;
  }

  /** Requests a second that may leave now; infinite while nothing is known. */
  rateAt(now: number): number {
    if (this.#known === null) return Number.POSITIVE_INFINITY;
    if (this.#trying === "at half") return Math.max(lowest, trial.at * this.#right);
    const since = now - this.#cutAt;
    if (this.#searching) return this.#known * 2 ** (since / searchMs);
    const beyond = since - cut.backMs;
    const part = beyond < 0 ? (1 - cut.to) * (beyond / cut.backMs) ** 3 : (beyond / doubledMs) ** 3;
    return Math.max(lowest, this.#known * (1 + part));
  }

  /** Milliseconds from `now` until the next request may begin; 0 or less when it may at once. */
  waitAt(now: number): number {
    return this.#known === null ? 0 : this.#dueMs - now;
  }

  /** Spends one request that begins at `now`. */
  spend(now: number): void {
    if (this.#known === null) return;
    const from = Math.max(this.#dueMs, now - lateMs);
    this.#dueMs = from + 1000 / this.rateAt(now);
  }

  /**
   * An answer that was none of throttling came.
   *
   * @param ticket pauses before its request left
   */
  accepted(now: number, ticket: number): void {
    this.#turnTo(now);
    const at = this.#bucket % buckets;
    this.#accepted[at] = (this.#accepted[at] ?? 0) + 1;
    this.#answers++;
    if (this.#trying !== null) this.#try(now, ticket, false);
  }

  /**
   * A throttle answer came.
   *
   * @param ticket pauses before its request left
   * @param pauses pauses so far; a request that left after the last one tells something new
   */
  throttled(now: number, ticket: number, pauses: number): void {
    this.#turnTo(now);
    this.#answers++;
    this.#throttles++;
    if (this.#trying !== null) this.#try(now, ticket, true);
    if (this.#trying === "at half") return;
    const enough = this.#throttles >= strained.least || this.#answers < strained.few;
    if (this.#known !== null && now - this.#cutAt < cut.apartMs) return;
    const share = this.#searching && this.limited ? strained.whileSearching : strained.share;
    const beyond = this.#throttles - this.#noise.expected(this.#answers);
    if (ticket === pauses && enough && beyond >= share * this.#answers) this.#cut(now, pauses);
  }

  /** Nothing leaves from now on until then. */
  paused(now: number, until: number): void {
    const last = this.#pauses.at(-1);
    if (last !== undefined && now <= last.until) last.until = Math.max(last.until, until);
    else this.#pauses.push({ from: now, until });
    this.#pauses = this.#pauses.filter((pause) => pause.until > now - measureMs);
  }

  #cut(now: number, pauses: number): void {
    const rate = this.rateAt(now);
    // The first answers tell little, and a cut that takes too much costs more than one too few.
    const first = rate === Number.POSITIVE_INFINITY;
    const measured = this.#measured(now);
    this.#right = Math.min(rate, measured);
    this.#known = Math.max(
      lowest,
      first ? searchFrom : rate / 2,
      first ? measured / 2 : this.#right,
    );
    if (this.#trying !== null) this.#noise.abandon();
    this.#trying = null;
    // Where nothing at all was accepted, half of it would tell nothing.
    if (measured > 0 && this.#noise.try(now)) this.#trying = first ? "while searching" : "at half";
    this.#begin(now, first);
    this.#cutTicket = pauses;
  }

  #begin(now: number, searching: boolean): void {
    this.#searching = searching;
    this.#cutAt = now;
    this.#dueMs = now;
    this.#answers = 0;
    this.#throttles = 0;
  }

  #try(now: number, ticket: number, throttled: boolean): void {
    if (ticket > this.#cutTicket) {
      const verdict = this.#noise.answered(now, throttled);
      if (verdict === "noise") {
        // The cut was of no use.
        this.#known = Math.max(this.#known ?? lowest, this.rateAt(now));
        this.#begin(now, true);
      }
      if (verdict !== "open") return this.#endTrial(now);
    }
    if (this.#trying === "at half") {
      if (now - this.#cutAt < trial.longestMs) return;
      this.#noise.interrupt(now);
    } else {
      if (this.rateAt(now) < trial.below * this.#right) return;
      this.#noise.abandon();
    }
    this.#endTrial(now);
  }

  #endTrial(now: number): void {
    if (this.#trying === "at half" && !this.#searching) this.#begin(now, false);
    this.#trying = null;
  }

  /** Accepted answers a second, pauses left out. */
  #measured(now: number): number {
    const accepted = this.#accepted.reduce((sum, n) => sum + n, 0);
    let active = measureMs;
    for (const { from, until } of this.#pauses) {
      active -= Math.max(0, Math.min(now, until) - Math.max(from, now - measureMs));
    }
    return (accepted / Math.max(active, measureMs / 4)) * 1000;
  }

  /** Forgets what was accepted too long ago, and every second half of what was noted. */
  #turnTo(now: number): void {
    const bucket = Math.floor(now / (measureMs / buckets));
    const passed = Math.min(buckets, bucket - this.#bucket);
    for (let i = 1; i <= passed; i++) this.#accepted[(this.#bucket + i) % buckets] = 0;
    if (passed === buckets) this.#accepted.fill(0);
    this.#bucket = bucket;
    if (now - this.#notedAt < measureMs) return;
    this.#notedAt = now;
    this.#noise.atMost(this.#throttles, this.#answers);
    this.#answers /= 2;
    this.#throttles /= 2;
  }
}
