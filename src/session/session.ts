import type { CaseClient } from "../api/case-client.js";
import type { ClientOptions } from "../api/caller.js";
import { IntelClient } from "../api/intel-client.js";
import type { OpsClient } from "../api/ops-client.js";
import type { AttemptReport, CallPolicy } from "../api/types.js";
import type { Clock } from "../core/clock.js";
import type { EarlyEndError } from "../core/errors.js";
import type { Rate } from "../core/options.js";
import { ResourceStack } from "../core/resource-stack.js";
import { AddressWatch } from "../lookup/address-watch.js";
import { retryCalls } from "../lookup/attempt/call-policy.js";
import { failFast } from "../lookup/attempt/fail-fast.js";
import { Outage } from "../lookup/attempt/outage.js";
import { composeLookup } from "../lookup/compose.js";
import { type LookupSettings, paceOf } from "../lookup/options.js";
import { obeyHints } from "../lookup/pace/obey-hints.js";
import type { RequestPace, Throttling } from "../lookup/pace/request-pace.js";
import { Slots } from "../lookup/pace/slots.js";
import type { Lookup } from "../lookup/types.js";
import type { FindingStore, LookupStore } from "../store/store.js";
import { type Connections, mayQueue, openConnections } from "./connections.js";
import { openPaces } from "./open-paces.js";
import type { Paces } from "./paces.js";

/** A service, and how it is addressed. */
export interface ServiceAccess {
  readonly url: string;
  /** Stands for the service in state, caches and messages: its address, unless that changes. */
  readonly name: string;
  /** Sent to this service only; null for none. */
  readonly credential: string | null;
  /** Whether the service ends with this process. */
  readonly embedded: boolean;
  /** Whether it is known to invent its answers. */
  readonly isSynthetic: boolean;
}

/** How to ask a service. Calls other than lookups need no more than `retries` and `timeout`. */
export type SessionSettings = Partial<LookupSettings> &
  Pick<LookupSettings, "retries"> & {
    /** Timeout of one request, in milliseconds. */
    readonly timeout: number;
  };

export interface SessionOptions {
  readonly service: ServiceAccess;
  readonly settings: SessionSettings;
  readonly clock: Clock;
  /** Counts quotas across runs; null for this session only. */
  readonly stateFolder: string | null;
  readonly onWarning: (message: string) => void;
  /** Called when a quota is used up for more than a minute. */
  readonly onEarlyEnd?: (error: EarlyEndError) => void;
  /** Called at the end of each request. */
  readonly onAttempt?: (attempt: AttemptReport) => void;
  /** The pace of another session, instead of an own one. */
  readonly pace?: RequestPace | undefined;
  /** Whether several runs or clients use the session: answers are then kept as received. */
  readonly isShared?: boolean;
  /** Whether runs at high rates make their requests on a thread. @default true */
  readonly threads?: boolean;
}

/** What a user of a session hears while it looks items up. */
export interface SessionListener {
  readonly onWarning?: (message: string) => void;
  readonly onEarlyEnd?: (error: EarlyEndError) => void;
}

/** What distinguishes the lookups of a run from those of another. */
export interface LookupUse extends SessionListener {
  readonly settings: Pick<LookupSettings, "lookups" | "concurrency" | "partialRetries"> &
    Partial<Pick<LookupSettings, "bogons">> & { readonly maxRequests?: number | undefined };
  readonly store: LookupStore;
  /** Whether `store` may hold attempts of an interrupted run. @default false */
  readonly isResumed?: boolean;
  /** Whether findings include the text of their results. */
  readonly asReceived: boolean;
  /** False: partial answers in a cache are requested again. @default true */
  readonly partialsFromCache?: boolean | undefined;
  /** Cancels open requests, instead of the signal of each lookup. */
  readonly requests?: AbortSignal;
  readonly slots?: Slots;
  readonly onAttempt?: (attempt: AttemptReport) => void;
  /** Set for the lookups of a run: they wait for a service that is away, and end if it never answers. */
  readonly run?: RunUse;
}

export interface RunUse {
  readonly outagePatienceMs: number;
  /** Whether the service has answered before. */
  readonly answered: () => boolean;
  /** Requests of the run's earlier part; see `AddressWatch`. */
  readonly before: NonNullable<ConstructorParameters<typeof AddressWatch>[0]["before"]>;
  /** Called when an outage begins and ends. */
  readonly onOutage: (message: string) => void;
}

export interface OpenedLookup {
  readonly lookup: Lookup;
  /** Tells when enough lookups are queued. */
  readonly slots: Slots;
  /** Tracks which endpoints answered anything but 404. */
  readonly address: AddressWatch;
  /** What throttle answers have shown so far. */
  readonly throttling: () => Throttling;
  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  readonly pausedMs: () => number;
  /** Answers of earlier runs, and the name of the service there. */
  readonly cache: { readonly address: string; readonly store: FindingStore } | undefined;
  /** Ends the use, and makes its answers visible to other uses of the cache. The session stays open. */
  close(): Promise<void>;
}

/**
 * Everything that belongs to one service: connections, pace, quotas, cache and clients. Each part is
 * opened when it is first needed; `close` closes all of them.
 */
export class Session {
  readonly service: ServiceAccess;
  readonly settings: SessionSettings;
  readonly stateFolder: string | null;
  /** The rates in force. */
  readonly rates: readonly Rate[];
  readonly #options: SessionOptions;
  readonly #stack = new ResourceStack();
  readonly #opened = new Map<string, Promise<unknown>>();
  readonly #listeners = new Set<SessionListener>();
  /** Aborts when a quota is used up: calls that wait for it end. */
  #usedUp = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.service = options.service;
    this.settings = options.settings;
    this.stateFolder = options.service.embedded ? null : options.stateFolder;
    this.rates = paceOf(options.settings.rate, options.service.embedded);
  }

  /** Whether others may use the same quotas meanwhile, so that what is left of them is unknown. */
  get sharesPace(): boolean {
    return this.#options.pace !== undefined || this.#options.isShared === true;
  }

  /**
   * The paces: one for all endpoints, and one for each endpoint with rates of its own.
   *
   * @throws UsageError `priority_without_pace`, `driver_missing`; FatalError `redis_refused`
   */
  paces(): Promise<Paces> {
    return this.#once("paces", async () => {
      const { service, settings, stateFolder, rates: rate } = this;
      const { clock, pace: own } = this.#options;
      const priority = own === undefined ? settings.priority : undefined;
      const paces = await openPaces(
        { ...settings, rate, priority },
        {
          service: service.embedded ? null : service.url,
          stateFolder,
          onWarning: this.#warn,
          clock,
          onEarlyEnd: this.#end,
        },
      );
      this.#stack.defer(() => paces.giveBack());
      return own === undefined ? paces : { ...paces, run: own };
    });
  }

  /** The client of the threat intelligence interface, for calls other than lookups. */
  intel(): Promise<IntelClient> {
    return this.#once("intel", async () => this.#client(await this.#calls()));
  }

  /** The client of the operations interface. */
  ops(): Promise<OpsClient> {
    return this.#once("ops", async () => {
      const { OpsClient } = await import("../api/ops-client.js");
      return new OpsClient({ ...(await this.#calls()), accessToken: this.#credential });
    });
  }

  /** The client of the case management instance. */
  cases(): Promise<CaseClient> {
    return this.#once("cases", async () => {
      const { CaseClient } = await import("../api/case-client.js");
      return new CaseClient({ ...(await this.#calls()), apiKey: this.#credential });
    });
  }

  /** Opens the lookup of a run, of a command or of a library client. */
  async lookup(use: LookupUse): Promise<OpenedLookup> {
    this.#listeners.add(use);
    try {
      return await this.#open(use);
    } catch (error) {
      this.#listeners.delete(use);
      throw error;
    }
  }

  /** Closes what was opened, once what is being opened is open. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#opened.values());
    await this.#stack.close();
  }

  async #open(use: LookupUse): Promise<OpenedLookup> {
    const { service, settings } = this;
    const { clock, isShared = false } = this.#options;
    const { run, asReceived } = use;
    const { concurrency, maxRequests, bogons } = use.settings;
    const store = await this.#cache(asReceived || isShared);
    const cache = store && { address: service.name, store };
    const paces = await this.paces();
    const { dispatcher, queue } = await this.#connections(run !== undefined);
    const ahead = mayQueue({ ...settings, rate: this.rates, maxRequests }) ? queue : 0;
    const address = new AddressWatch({ address: service.url, before: run?.before });
    const { slots = new Slots({ concurrency, ahead }) } = use;
    const client = this.#client({
      ...this.#requests(dispatcher),
      // A later run may read cached results into its rows as received.
      asReceived: asReceived || cache !== undefined,
      onAttempt: (attempt) => {
        use.onAttempt?.(attempt);
        this.#options.onAttempt?.(attempt);
        address.note(attempt);
        obeyHints(attempt, { pace: paces.run, slots, clock });
      },
    });
    const { requests } = use;
    const open = requests && { signal: requests };
    const lookup = composeLookup({
      ...use.settings,
      client: { attempt: (endpoint, item, own) => client.attempt(endpoint, item, open ?? own) },
      ...(bogons && { bogons }),
      budget: maxRequests === undefined ? undefined : { maxRequests, onSpent: this.#end },
      slots,
      pace: paces.run,
      shares: paces.shares,
      retries: settings.retries,
      failFast: run && failFast({ address: service.url, answered: run.answered }),
      outage:
        run &&
        new Outage({
          patienceMs: run.outagePatienceMs,
          probes: paces.probes,
          address: service.url,
          answered: run.answered,
          clock,
          onChange: run.onOutage,
        }),
      store: use.store,
      isResumed: use.isResumed,
      cache: cache && { ...cache, partials: use.partialsFromCache },
      clock,
    });
    const close = async (): Promise<void> => {
      this.#listeners.delete(use);
      await store?.sync();
    };
    const { throttling, pausedMs } = paces;
    return { lookup, slots, address, throttling, pausedMs, cache, close };
  }

  #cache(asReceived: boolean): Promise<FindingStore | undefined> {
    return this.#once("cache", async () => {
      const { cache: folder, cacheTtl: ttlMs } = this.settings;
      if (folder === undefined || ttlMs === undefined) return undefined;
      const { openCacheAt } = await import("../store/open-cache.js");
      const { clock } = this.#options;
      const options = { folder, ttlMs, clock, asReceived, onWarning: this.#warn };
      return this.#stack.use(await openCacheAt(options));
    });
  }

  #connections(ofRun: boolean): Promise<Connections> {
    const { threads = true } = this.#options;
    return this.#once(ofRun ? "connections of runs" : "connections", async () => {
      const { service, settings, rates: rate } = this;
      const { concurrency = 1 } = settings;
      const limits = { ...settings, rate, concurrency };
      const connections = await openConnections(
        service.url,
        limits,
        ofRun && threads ? undefined : false,
      );
      this.#stack.defer(() => connections.dispatcher.destroy());
      return connections;
    });
  }

  /** What the calls of each client have in common: pace, quotas, retries, and the service's hints. */
  async #calls(): Promise<ClientOptions> {
    const { clock } = this.#options;
    const paces = await this.paces();
    const { dispatcher } = await this.#connections(false);
    const policy = retryCalls({ pace: paces.run, retries: this.settings.retries, clock });
    const send: CallPolicy = (attempt, { signal }) =>
      policy(attempt, { signal: AbortSignal.any([signal, this.#usedUp.signal]) });
    const slots = new Slots({ concurrency: 1 });
    return {
      ...this.#requests(dispatcher),
      send,
      onAttempt: (attempt) => {
        this.#options.onAttempt?.(attempt);
        obeyHints(attempt, { pace: paces.run, slots, clock });
      },
    };
  }

  #requests(dispatcher: Connections["dispatcher"]): ClientOptions {
    const { clock } = this.#options;
    return { baseUrl: this.service.url, dispatcher, clock, timeoutMs: this.settings.timeout };
  }

  #client(options: ClientOptions & { readonly asReceived?: boolean }): IntelClient {
    return new IntelClient({ ...options, apiKey: this.#credential });
  }

  get #credential(): string | undefined {
    return this.service.credential ?? undefined;
  }

  readonly #warn = (message: string): void => {
    for (const { onWarning } of this.#listeners) onWarning?.(message);
    this.#options.onWarning(message);
  };

  readonly #end = (error: EarlyEndError): void => {
    for (const { onEarlyEnd } of this.#listeners) onEarlyEnd?.(error);
    this.#usedUp.abort(error);
    this.#usedUp = new AbortController();
    this.#options.onEarlyEnd?.(error);
  };

  #once<T>(name: string, open: () => Promise<T>): Promise<T> {
    const known = this.#opened.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const opening = open();
    this.#opened.set(name, opening);
    // A part that failed to open is tried again with the next call.
    opening.catch(() => this.#opened.delete(name));
    return opening;
  }
}
