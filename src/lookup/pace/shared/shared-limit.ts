import type { Clock } from "../../../core/clock.js";
import type { Rate } from "../../../core/options.js";
import type { Grant, PaceServer, PaceWindow } from "../../../store/redis/pace-server.js";
import type { LimitSnapshot } from "../limit-snapshot.js";
import { LimitState } from "../limit-state.js";
import type { Throttling } from "../request-pace.js";
import { adaptiveWindow, paceWindow } from "./pace-windows.js";

/** What an answer says about the limit; `at` in milliseconds of the server. */
type Event = { readonly at: number } & (
  | { readonly is: "accepted"; readonly ticket: number; count: number }
  | { readonly is: "throttled"; readonly ticket: number; readonly afterMs: number | null }
  | { readonly is: "hold"; readonly ms: number }
  | { readonly is: "advised"; readonly by: string; readonly rate: Rate }
);

/** As stored on the server. */
interface Learned {
  readonly limit: LimitSnapshot;
  readonly advised: Readonly<Record<string, Rate>>;
  /** Time of the latest event. */
  readonly at: number;
}

/** Answers are reported together at this interval, longer if many others report too; milliseconds. */
const reporting = { least: 100, most: 1_000, againMs: 100, growth: 1.5, shrink: 0.95 };

export interface SharedLimitOptions {
  readonly server: PaceServer;
  readonly adaptive: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds of the server now. */
  readonly serverMs: () => number;
}

/**
 * What all processes that share a pace have learned from answers. Each keeps a copy, applies its own
 * answers to it and publishes the result; if another client was faster, it starts from that state.
 */
export class SharedLimit {
  readonly #options: SharedLimitOptions & { readonly isShared: true };
  #state: LimitState;
  #advised: Readonly<Record<string, Rate>> = {};
  #at = 0;
  #version = "0";
  #events: Event[] = [];
  #isLost = false;
  #publishing: Promise<void> | null = null;
  #timer: AbortController | null = null;
  #intervalMs = reporting.least;
  readonly #closed = new AbortController();

  constructor(options: SharedLimitOptions) {
    this.#options = { ...options, isShared: true };
    this.#state = new LimitState(this.#options);
  }

  get throttling(): Throttling {
    return this.#state.throttling;
  }

  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  get pausedMs(): number {
    return Math.max(0, this.#state.pausedUntil - this.#options.serverMs());
  }

  get version(): string {
    return this.#version;
  }

  /** Limits learned from answers. */
  windows(): PaceWindow[] {
    const windows = Object.entries(this.#advised).map(([by, rate]) =>
      paceWindow(`advised ${by}`, rate),
    );
    const rate = this.#state.adaptive?.rateAt(this.#options.serverMs()) ?? Infinity;
    return rate === Infinity ? windows : [...windows, adaptiveWindow(rate)];
  }

  /** Takes over what others have published. */
  receive({ version, learned, isNew }: Pick<Grant, "version" | "learned" | "isNew">): void {
    if (isNew && this.#version !== "0") {
      // The server has lost it.
      this.#isLost = true;
      this.#version = version;
      void this.publish();
    } else if (version !== this.#version && learned !== "") this.#adopt(version, learned);
  }

  accepted(ticket: number): void {
    const last = this.#events.at(-1);
    if (last?.is === "accepted" && last.ticket === ticket) last.count++;
    else this.#events.push({ is: "accepted", at: this.#options.serverMs(), ticket, count: 1 });
    if (this.#state.probing && ticket === this.#state.ticket) void this.publish();
    else this.#publishLater();
  }

  /** Resolves once every client of the pace holds. */
  throttled(afterMs: number | null, ticket: number): Promise<void> {
    this.#events.push({ is: "throttled", at: this.#options.serverMs(), ticket, afterMs });
    return this.publish();
  }

  hold(ms: number): Promise<void> {
    this.#events.push({ is: "hold", at: this.#options.serverMs(), ms });
    return this.publish();
  }

  advise(by: string, rate: Rate): void {
    const known = this.#advised[by];
    if (known?.count === rate.count && known.perMs === rate.perMs) return;
    this.#advised = { ...this.#advised, [by]: rate };
    this.#events.push({ is: "advised", at: this.#options.serverMs(), by, rate });
    void this.publish();
  }

  /** Publishes all reports so far. */
  publish(): Promise<void> {
    this.#timer?.abort();
    this.#timer = null;
    this.#publishing ??= this.#publishAll().finally(() => (this.#publishing = null));
    return this.#publishing;
  }

  /** Publishes the last reports, unless the server is away. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.publish();
  }

  async #publishAll(): Promise<void> {
    while (this.#events.length > 0 || this.#isLost) {
      const events = this.#events;
      this.#events = [];
      try {
        for (let tries = 0; !(await this.#tryPublish(events)); tries++) {
          // The first refusal only brings what others have published before.
          if (tries > 0) {
            this.#intervalMs = Math.min(reporting.most, this.#intervalMs * reporting.growth);
          }
        }
        this.#isLost = false;
        this.#intervalMs = Math.max(reporting.least, this.#intervalMs * reporting.shrink);
      } catch {
        if (this.#closed.signal.aborted) return;
        this.#events = [...events, ...this.#events];
        await this.#options.clock
          .sleep(reporting.againMs, this.#closed.signal)
          .catch(() => undefined);
      }
    }
  }

  /** False if others have published meanwhile. Their state is taken over then. */
  async #tryPublish(events: readonly Event[]): Promise<boolean> {
    const { server } = this.#options;
    const next = this.#applied(events);
    const pausedUntil = next.state.pausedUntil;
    const learned: Learned = {
      limit: next.state.snapshot(),
      advised: next.advised,
      at: next.at,
    };
    const published = await server.publish({
      version: this.#version,
      learned: JSON.stringify(learned),
      ticket: next.state.ticket,
      hold: Number.isFinite(pausedUntil) ? pausedUntil * 1000 : 0,
      probing: next.state.probing,
    });
    if (published.accepted) {
      this.#state = next.state;
      this.#advised = next.advised;
      this.#at = next.at;
      this.#version = published.version;
    } else if (published.learned === "") this.#version = published.version;
    else this.#adopt(published.version, published.learned);
    return published.accepted;
  }

  #applied(events: readonly Event[]) {
    const state = new LimitState(this.#options, this.#state.snapshot());
    const advised = { ...this.#advised };
    let at = this.#at;
    for (const event of events) {
      // Reports of several processes arrive in another order than they happened.
      at = Math.max(at, event.at);
      if (event.is === "throttled") state.throttled(at, event.afterMs, event.ticket);
      else if (event.is === "hold") state.hold(at, event.ms);
      else if (event.is === "advised") advised[event.by] = event.rate;
      else for (let i = 0; i < event.count; i++) state.succeeded(at, event.ticket);
    }
    return { state, advised, at };
  }

  #adopt(version: string, learned: string): void {
    const { limit, advised, at } = JSON.parse(learned) as Learned;
    this.#state = new LimitState(this.#options, limit);
    this.#advised = advised;
    this.#at = at;
    this.#version = version;
  }

  #publishLater(): void {
    if (this.#timer !== null || this.#publishing !== null) return;
    const timer = new AbortController();
    this.#timer = timer;
    this.#options.clock.sleep(this.#intervalMs, timer.signal).then(
      () => this.publish(),
      () => undefined,
    );
  }
}
