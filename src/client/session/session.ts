import { availableParallelism } from "node:os";
import type { CaseClient, OpsClient } from "../api/ops-client.js";
import type { ClientOptions } from "../api/caller.js";
import { IntelClient } from "../api/intel-client.js";
import type { AttemptReport, CallPolicy } from "../api/types.js";
import { type Rate, isQuota } from "../../core/options.js";
import { Parts } from "../../core/resource-stack.js";
import { AddressWatch, type RequestOutcomes } from "../lookup/address-watch.js";
import { retryCalls } from "../lookup/attempt/retry.js";
import { Outage } from "../lookup/attempt/outage.js";
import { openWithheld, type Withheld, type WithheldChoice } from "../lookup/withheld.js";
import { composeLookup } from "../lookup/compose.js";
import { type LookupSettings, openRequests, paceOf } from "../lookup/options.js";
import { Slots } from "../pace/slots.js";
import type { FindingStore, LookupStore } from "../store/store.js";
import { longestWaitMs, type MadeUp } from "../../core/finding.js";
import type { Clock } from "../../core/clock.js";
import { Pace, type RequestPace } from "../pace/pace.js";
import { rateLimitHintMs, rateLimitPolicy } from "../api/rate-limit-headers.js";
import type { QuotaStore } from "../pace/quota.js";
import type { EarlyEndError } from "../../core/errors.js";

/** A service, and how it is addressed. */
export interface ServiceAccess {
  readonly url: string;
  /** Its name in state, caches and messages: the address, unless that changes. */
  readonly name: string;
  /** Sent to this service only; null for none. */
  readonly credential: string | null;
  /** Whether the service ends with this process. */
  readonly embedded: boolean;
  /** Set for an embedded service: how it makes up its answers. */
  readonly madeUp?: MadeUp;
}

export interface SessionOptions {
  readonly service: ServiceAccess;
  /** How to ask. Calls other than lookups need no more than `retries` and `timeout`, in milliseconds. */
  readonly settings: Partial<LookupSettings> &
    Pick<LookupSettings, "retries"> & { readonly timeout: number };
  readonly clock: Clock;
  /** Counts quotas across runs; null for this session only. */
  readonly stateFolder: string | null;
  readonly onWarning: (message: string) => void;
  /** Called when a quota is used up for more than a minute. */
  readonly onEarlyEnd?: (error: EarlyEndError) => void;
  readonly onAttempt?: ((attempt: AttemptReport) => void) | undefined;
  /** Whether several runs or clients use the session: answers are then kept as received. */
  readonly isShared?: boolean;
}

/** What a user of a session hears while it looks items up. */
type SessionListener = Partial<Pick<SessionOptions, "onWarning" | "onEarlyEnd">>;

/** What differs between the lookups of two runs. */
interface LookupUse extends SessionListener {
  readonly settings: Pick<LookupSettings, "lookups" | "concurrency" | "partialRetries"> &
    WithheldChoice & { readonly maxRequests?: number | undefined };
  readonly store: LookupStore;
  /** Whether `store` may hold attempts of an interrupted run. @default false */
  readonly isResumed?: boolean;
  /** Whether findings include the text of their results. */
  readonly asReceived: boolean;
  /** False: partial answers in a cache are requested again. @default true */
  readonly partialsFromCache?: boolean | undefined;
  /** Whether `store` takes answers from a cache, too. @default false: the cache has them longer */
  readonly keepsCached?: boolean | undefined;
  /** Cancels open requests, instead of the signal of each lookup. */
  readonly requests?: AbortSignal;
  readonly slots?: Slots;
  readonly onAttempt?: (attempt: AttemptReport) => void;
  /** Set for the lookups of a run: they wait for a service that is away, and end if it never answers. */
  readonly run?: RunUse;
}

interface RunUse {
  readonly answered: () => boolean;
  /** Requests of the run's earlier part; see `AddressWatch`. */
  readonly before: RequestOutcomes;
  readonly onChange: (message: string) => void;
}

/**
 * Everything that belongs to one service: connections, pace, quotas, cache and clients. Each part is
 * opened when it is first needed; `close` closes all of them.
 */
export class Session {
  readonly service: ServiceAccess;
  readonly settings: SessionOptions["settings"];
  readonly stateFolder: string | null;
  readonly rates: readonly Rate[];
  readonly #options: SessionOptions;
  readonly #parts = new Parts();
  /** All who hear what happens here. */
  readonly #listeners: Set<SessionListener>;
  /** Aborts when a quota is used up: calls that wait for it end. */
  #usedUp = new AbortController();
  /** Whether the service has ever answered. */
  #answered = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#listeners = new Set([options]);
    this.service = options.service;
    this.settings = options.settings;
    this.stateFolder = options.service.embedded ? null : options.stateFolder;
    this.rates = paceOf(options.settings, options.service.embedded);
  }

  /** The pace of all requests. A used-up quota ends runs, which can be resumed, and calls. */
  pace(): Promise<Pace> {
    return this.#parts.open("pace", async () => {
      const { rates } = this;
      const { clock } = this.#options;
      const quotas = rates.some(isQuota) ? await this.#quotas() : undefined;
      const pace = new Pace({ rates, clock, quotas, onUsedUp: this.#end });
      this.#parts.defer(() => pace.giveBack());
      return pace;
    });
  }

  async #quotas(): Promise<QuotaStore | undefined> {
    const { service, stateFolder } = this;
    if (stateFolder === null) return undefined;
    const { openQuotas } = await import("../store/quotas.js");
    const quotas = openQuotas({ service: service.url, stateFolder }, this.#warn);
    this.#parts.defer(() => quotas.close());
    return quotas;
  }

  /** The client of the threat intelligence interface, for calls other than lookups. */
  intel(): Promise<IntelClient> {
    return this.#parts.open("intel", async () => {
      return new IntelClient({ ...(await this.#calls()), apiKey: this.#credential });
    });
  }

  ops(): Promise<OpsClient> {
    return this.#parts.open("ops", async () => {
      const { OpsClient } = await import("../api/ops-client.js");
      return new OpsClient({ ...(await this.#calls()), accessToken: this.#credential });
    });
  }

  cases(): Promise<CaseClient> {
    return this.#parts.open("cases", async () => {
      const { CaseClient } = await import("../api/ops-client.js");
      return new CaseClient({ ...(await this.#calls()), apiKey: this.#credential });
    });
  }

  /**
   * What the lookups of this session don't send.
   *
   * @param own settings that differ from those of the session
   * @throws UsageError `exclusions_unreadable`, `exclusion_invalid`
   */
  withheld(own: WithheldChoice = this.settings): Promise<Withheld> {
    const { bogons = this.service.embedded ? "ask" : "local", urlQuery } = own;
    const what = { bogons, urlQuery, exclude: own.exclude ?? this.settings.exclude };
    return this.#parts.open(`withheld ${JSON.stringify(what)}`, () => openWithheld(what));
  }

  async lookup(use: LookupUse) {
    this.#listeners.add(use);
    return this.#open(use).catch((error: unknown) => {
      this.#listeners.delete(use);
      throw error;
    });
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  async #open(use: LookupUse) {
    const { service, settings } = this;
    const { clock, isShared = false } = this.#options;
    const { run, asReceived, settings: own } = use;
    const [{ maxRequests }, concurrency] = [own, openRequests({ ...settings, ...own })];
    const store = await this.#cache(asReceived || isShared);
    const shared = await this.pace();
    const pace = settings.workers === undefined ? shared : paceOfQueued(shared);
    const address = new AddressWatch(service.url, run?.before);
    const isOnThread = run !== undefined && !service.embedded && settings.workers === undefined;
    const queue = isOnThread ? queueOf(this.rates, maxRequests) : 0;
    const { slots = new Slots(concurrency + queue) } = use;
    const client = new IntelClient({
      ...this.#requests(await this.#ways(run !== undefined)),
      apiKey: this.#credential,
      keyHolder: settings.workers && "the workers",
      // A later run may read cached results into its rows as received.
      asReceived: asReceived || store !== undefined,
      onAttempt: (attempt) => {
        use.onAttempt?.(attempt);
        this.#heed(attempt, pace);
        address.note(attempt);
      },
    });
    const outage = run && new Outage({ ...run, ...this.#patience, address: service.url, clock });
    const lookup = composeLookup({
      ...own,
      client,
      requests: use.requests,
      withheld: await this.withheld(own),
      budget: maxRequests === undefined ? undefined : { maxRequests, onSpent: this.#end },
      slots,
      pace,
      retries: settings.retries,
      answered: run?.answered ?? (() => this.#answered),
      failFast: run && address.failFast(run.answered),
      outage,
      store: use.store,
      isResumed: use.isResumed,
      keepsCached: use.keepsCached,
      cache: store && { address: service.name, store, partials: use.partialsFromCache },
      clock,
    });
    return {
      lookup,
      /** Tells when enough lookups are queued. */
      slots,
      /** Tracks which endpoints answered anything but 404. */
      address,
      /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
      pausedMs: () => shared.pausedMs,
      /** Whether nothing but errors comes from the service. */
      isAway: () => outage?.open === true,
      /** Ends the use, and makes its answers visible to other uses of the cache. The session stays open. */
      close: async (): Promise<void> => {
        this.#listeners.delete(use);
        store?.sync();
      },
    };
  }

  #cache(asReceived: boolean): Promise<FindingStore | undefined> {
    return this.#parts.open("cache", async () => {
      const { cache: folder, cacheTtl: ttlMs } = this.settings;
      if (folder === undefined || ttlMs === undefined) return undefined;
      const { openCache } = await import("../store/cache.js");
      const { clock } = this.#options;
      const cache = await openCache({ folder, ttlMs, clock, asReceived, onWarning: this.#warn });
      this.#parts.defer(() => cache.close());
      return cache;
    });
  }

  /** How long to wait for a service, or for workers, that are away. */
  get #patience(): { readonly patienceMs: number } {
    return { patienceMs: this.settings.outagePatience ?? 600_000 };
  }

  #ways(ofRun: boolean, address = this.settings.workers): Promise<ClientOptions["dispatcher"]> {
    if (address === undefined) return this.#connections(ofRun);
    return this.#parts.open("workers", async () => {
      const { openQueue } = await import("../workers/lookup-queue.js");
      const { WorkerRequests } = await import("../workers/worker-requests.js");
      const baseUrl = this.service.url;
      const queue = await openQueue({ address, baseUrl, environment: process.env });
      const told = { clock: this.#options.clock, onWarning: this.#warn };
      const dispatcher = new WorkerRequests({ ...told, baseUrl, ...this.#patience }, queue);
      this.#parts.defer(() => dispatcher.destroy());
      return dispatcher;
    });
  }

  #connections(ofRun: boolean): Promise<ClientOptions["dispatcher"]> {
    return this.#parts.open(ofRun ? "connections of runs" : "connections", async () => {
      const { service, settings, rates: rate } = this;
      const limits = { rate, concurrency: openRequests(settings) };
      // The answers of the embedded service take longer than the requests.
      const onThread = ofRun && !service.embedded ? undefined : false;
      const pace = await this.pace();
      const connections = await openConnections(service.url, limits, pace, onThread);
      this.#parts.defer(() => connections.destroy());
      return connections;
    });
  }

  /** What the calls of each client have in common: pace, quotas, retries, and the service's hints. */
  async #calls(): Promise<ClientOptions> {
    const { clock } = this.#options;
    const pace = await this.pace();
    const { retries } = this.settings;
    const policy = retryCalls({ pace, retries, answered: () => this.#answered, clock });
    const send: CallPolicy = (attempt, { signal }) =>
      policy(attempt, { signal: AbortSignal.any([signal, this.#usedUp.signal]) });
    return {
      ...this.#requests(await this.#connections(false)),
      send,
      onAttempt: (attempt) => this.#heed(attempt, pace),
    };
  }

  /** Slows down as an answer's rate-limit headers ask. */
  #heed(attempt: AttemptReport, pace: RequestPace): void {
    const { httpStatus, endpoint, headers } = attempt;
    if (httpStatus !== null) this.#answered = true;
    this.#options.onAttempt?.(attempt);
    if (headers === null) return;
    const hint = rateLimitHintMs(headers, this.#options.clock);
    if (hint !== null) pace.hold(hint);
    const allowed = rateLimitPolicy(headers);
    if (allowed !== null) pace.advise(endpoint, allowed);
  }

  readonly #warn = (message: string): void => {
    for (const { onWarning } of this.#listeners) onWarning?.(message);
  };

  readonly #end = (error: EarlyEndError): void => {
    for (const { onEarlyEnd } of this.#listeners) onEarlyEnd?.(error);
    this.#usedUp.abort(error);
    this.#usedUp = new AbortController();
  };

  #requests(dispatcher: ClientOptions["dispatcher"]): ClientOptions {
    const { clock } = this.#options;
    return { baseUrl: this.service.url, dispatcher, clock, timeoutMs: this.settings.timeout };
  }

  get #credential(): string | undefined {
    return this.service.credential ?? undefined;
  }
}

export type OpenedLookup = Awaited<ReturnType<Session["lookup"]>>;

/** The pace of requests that workers make, who slow down themselves: quotas, the service's own too. */
function paceOfQueued(pace: RequestPace): RequestPace {
  const hold = (ms: number | null): void =>
    void (ms !== null && ms > longestWaitMs && pace.hold(ms));
  const ignore = (): void => undefined;
  return {
    take: (signal) => pace.take(signal),
    throttled: hold,
    succeeded: ignore,
    hold,
    advise: ignore,
  };
}

/** Requests per second from which a separate request thread is worth its memory. */
const threadRate = 1_000;

/** Requests per second from which some may wait on that thread: they leave 3 ms late at most. */
const queueRate = 10_000;

/**
 * Threads need two processors. Node.js itself loads a thread's first file, so a thread cannot start
 * from TypeScript sources (under a test runner).
 */
const threadsHelp = import.meta.url.endsWith(".js") && availableParallelism() > 1;

/**
 * Opens connections. At high rates, requests are made on a separate thread.
 *
 * @param pace leaves the spacing of requests to that thread
 * @param threads whether they may be. @default if this machine has two processors
 */
export async function openConnections(
  url: string,
  { concurrency, rate }: { readonly concurrency: number; readonly rate: readonly Rate[] },
  pace: Pick<Pace, "leaveSpacing">,
  threads = threadsHelp,
): Promise<ClientOptions["dispatcher"] & { destroy(): Promise<void> }> {
  if (threads && perSecond(rate) >= threadRate) {
    const { requestThread } = await import("../api/thread/request-thread.js");
    return requestThread(concurrency, pace.leaveSpacing());
  }
  const { createDispatcher } = await import("../api/http/dispatcher.js");
  return createDispatcher(url, { connections: concurrency });
}

/**
 * How many requests may wait on the thread for a free connection, so that a connection never waits for
 * this thread. They have passed the pace and count as sent, which quotas and budgets forbid.
 */
export function queueOf(rates: readonly Rate[], maxRequests?: number): number {
  const isCounted = rates.some(isQuota) || maxRequests !== undefined;
  return threadsHelp && !isCounted && perSecond(rates) >= queueRate ? 96 : 0;
}

/** Requests per second that the rates allow. Quotas limit the total, not the speed. */
function perSecond(rates: readonly Rate[]): number {
  const each = rates.filter((one) => !isQuota(one)).map((one) => (one.count / one.perMs) * 1000);
  return Math.min(...each);
}
