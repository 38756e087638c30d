import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { Clock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";
import type { LearnedRate } from "../pace/adaptive-rate.js";
import { Limits } from "../pace/limits.js";
import { jobWindow, type OpenQueue, type RateWindow } from "./lookup-queue.js";

/**
 * Times in milliseconds: between reports, until another worker judges, between the ends of what is one
 * pause, and how late the rate may be used.
 */
const times = { report: 200, judge: 2_000, samePause: 50, late: 500 };

/** Reports that are judged at once. */
const mostReports = 10_000;

interface SharedLimitsOptions {
  /** Rate of all workers, until a later one sets another. */
  readonly rate: Rate;
  readonly clock: Clock;
  /** Random numbers from 0 (inclusive) to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Called with the limit of jobs in force. */
  readonly onWindow: (window: RateWindow) => void;
  /** Called when another worker has set the rate of all. */
  readonly onRate: (rate: Rate) => void;
}

/** Answers of requests that were sent with the same ticket. */
interface Report {
  readonly ticket: number;
  accepted: number;
  throttled: number;
  /** Longest wait that the service asked for; null for none. */
  waitMs: number | null;
}

/** What the judge has found. */
interface Judgement {
  readonly ticket: number;
  readonly learned: LearnedRate;
  /** Its time: milliseconds in which the rate was used up. */
  readonly usedMs: number;
  readonly window: RateWindow;
}

/**
 * The limits of a service for all its workers: one rate, one pause, and the limit that throttle answers
 * show. All report their answers to Redis; one of them judges, until it is silent. A pause that the service
 * asks for is set at once by the worker that hears of it.
 */
export class SharedLimits {
  readonly #options: SharedLimitsOptions;
  readonly #queue: OpenQueue["queue"];
  readonly #redis: Redis;
  readonly #limits: Limits;
  readonly #name = randomUUID();
  #rate: Rate;
  #window: RateWindow;
  #reports: Report[] = [];
  #isJudge = false;
  #pausedUntil = 0;
  /** When the rate in force was set, and until when it is used up. */
  #judgedAt: number;
  #usedUntil = 0;
  #reporting: Promise<void> | null = null;

  constructor({ connection, queue }: OpenQueue, options: SharedLimitsOptions) {
    const { rate, random, clock } = options;
    this.#options = options;
    this.#queue = queue;
    this.#redis = connection.redis;
    this.#rate = rate;
    this.#window = jobWindow(rate);
    this.#judgedAt = clock.monotonic();
    this.#limits = new Limits({ rates: [], random, now: () => this.#judgedAt, lateMs: () => 0 });
  }

  /** The limit of jobs in force, of all workers. */
  get window(): RateWindow {
    return this.#window;
  }

  /** Number of lessons so far; dates a request. */
  get ticket(): number {
    return this.#limits.ticket;
  }

  /** Sets the rate of all workers. @returns the rate that they had */
  async begin(): Promise<Rate | null> {
    const before = await givenRate(this.#redis, this.#queue);
    await this.#redis.hset(this.#key("pace"), "rate", JSON.stringify(this.#rate));
    await this.#report();
    return before;
  }

  /** Reports regularly. */
  async keep(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(times.report, signal);
      await this.#report().catch(() => undefined);
    }
  }

  succeeded(ticket: number): void {
    this.#reportOf(ticket).accepted++;
  }

  /** @param afterMs wait that the service asked for, or null */
  async throttled(afterMs: number | null, ticket: number): Promise<void> {
    const report = this.#reportOf(ticket);
    report.throttled++;
    if (afterMs !== null) report.waitMs = Math.max(report.waitMs ?? 0, afterMs);
    if (afterMs !== null) await this.#pause(afterMs);
    await this.#report();
  }

  hold(ms: number): void {
    void this.#pause(ms).catch(() => undefined);
  }

  advise(by: string, rate: Rate): void {
    this.#limits.advise(by, rate);
  }

  #key(name: string): string {
    return this.#queue.toKey(name);
  }

  #reportOf(ticket: number): Report {
    const last = this.#reports.at(-1);
    if (last?.ticket === ticket) return last;
    const report = { ticket, accepted: 0, throttled: 0, waitMs: null };
    this.#reports.push(report);
    return report;
  }

  #report(): Promise<void> {
    return (this.#reporting ??= this.#exchange().finally(() => (this.#reporting = null)));
  }

  async #exchange(): Promise<void> {
    const redis = this.#redis;
    const [pace, judge, answers] = ["pace", "judge", "answers"].map((name) => this.#key(name));
    const reports = this.#reports.splice(0).map((report) => JSON.stringify(report));
    if (reports.length > 0) await redis.rpush(answers!, ...reports);
    await redis.set(judge!, this.#name, "PX", times.judge, "NX");
    const [judging, [rate = null, judgement = null]] = await Promise.all([
      redis.get(judge!),
      redis.hmget(pace!, "rate", "judgement"),
    ]);
    if (rate === null) await redis.hset(pace!, "rate", JSON.stringify(this.#rate));
    else this.#obey(JSON.parse(rate) as Rate);
    if (judgement !== null && !this.#isJudge) this.#takeOver(JSON.parse(judgement) as Judgement);
    this.#isJudge = judging === this.#name;
    if (this.#isJudge) {
      await redis.pexpire(judge!, times.judge);
      const all = (await redis.lpop(answers!, mostReports)) ?? [];
      await redis.hset(pace!, "judgement", JSON.stringify(await this.#judge(all.map(parsed))));
      await this.#queue.setGlobalRateLimit(this.#window.max, this.#window.duration);
    }
    this.#options.onWindow(this.#window);
  }

  #obey(rate: Rate): void {
    const { count, perMs } = this.#rate;
    if (rate.count === count && rate.perMs === perMs) return;
    this.#rate = rate;
    this.#options.onRate(rate);
  }

  #takeOver({ ticket, learned, usedMs, window }: Judgement): void {
    const limits = this.#limits;
    this.#window = window;
    this.#judgedAt = this.#usedUntil = this.#options.clock.monotonic();
    limits.idleMs = this.#judgedAt - usedMs;
    if (ticket === limits.ticket) return;
    limits.ticket = ticket;
    limits.rate.learned = learned;
  }

  async #judge(reports: readonly Report[]): Promise<Judgement> {
    const limits = this.#limits;
    for (const { ticket, accepted, throttled, waitMs } of reports) {
      limits.sent += accepted + throttled;
      for (let n = 0; n < accepted; n++) limits.succeeded(ticket);
      for (let n = 0; n < throttled; n++) limits.throttled(waitMs, ticket);
      if (waitMs === null && throttled > 0) await this.#pause(limits.pausedMs);
    }
    this.#judgedAt = this.#options.clock.monotonic();
    this.#noteUse(reports.reduce((sum, { accepted, throttled }) => sum + accepted + throttled, 0));
    const found = limits.windows().map(({ interval }) => ({ count: 1, perMs: interval }));
    const slowest = [this.#rate, ...found].reduce((a, b) =>
      b.count / b.perMs < a.count / a.perMs ? b : a,
    );
    this.#window = jobWindow(slowest);
    const usedMs = this.#judgedAt - limits.idleMs;
    return { ticket: limits.ticket, learned: limits.rate.learned, usedMs, window: this.#window };
  }

  /** Time in which the rate isn't used up proves nothing about it. */
  #noteUse(requests: number): void {
    const { max, duration } = this.#window;
    const until = Math.min(this.#judgedAt, this.#usedUntil + (requests * duration) / max);
    const idleMs = Math.max(0, this.#judgedAt - times.late - until);
    this.#usedUntil = until + idleMs;
    this.#limits.idleMs += idleMs;
  }

  /** Pauses all workers, unless they pause for longer already. */
  async #pause(ms: number): Promise<void> {
    const until = this.#options.clock.monotonic() + ms;
    if (until < this.#pausedUntil + times.samePause) return;
    this.#pausedUntil = until;
    const left = await this.#queue.getRateLimitTtl();
    if (ms > left + times.samePause) await this.#queue.rateLimit(Math.ceil(ms));
  }
}

function parsed(report: string): Report {
  return JSON.parse(report) as Report;
}

/** The rate that workers were given last; null before. */
export async function givenRate(redis: Redis, queue: OpenQueue["queue"]): Promise<Rate | null> {
  const rate = await redis.hget(queue.toKey("pace"), "rate");
  return rate === null ? null : (JSON.parse(rate) as Rate);
}
