import type { AttemptReport } from "../api/types.js";
import type { Clock } from "../../core/clock.js";
import type { EarlyEndError } from "../../core/errors.js";
import type { AddressWatch } from "../lookup/address-watch.js";
import type { LookupSettings } from "../lookup/options.js";
import type { Slots } from "../pace/slots.js";
import type { Lookup } from "../lookup/types.js";
import type { MadeUp } from "../../core/finding.js";
import type { WithheldChoice } from "../lookup/withheld.js";
import type { LookupStore } from "../store/store.js";

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
  readonly onAttempt?: (attempt: AttemptReport) => void;
  /** Whether several runs or clients use the session: answers are then kept as received. */
  readonly isShared?: boolean;
  /**
   * Whether runs at high rates make their requests on a thread; never to the embedded service, whose
   * answers take longer than the requests. @default true
   */
  readonly threads?: boolean;
}

/** What a user of a session hears while it looks items up. */
export interface SessionListener {
  readonly onWarning?: (message: string) => void;
  readonly onEarlyEnd?: (error: EarlyEndError) => void;
}

/** What differs between the lookups of two runs. */
export interface LookupUse extends SessionListener {
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
  readonly before: NonNullable<ConstructorParameters<typeof AddressWatch>[0]["before"]>;
  readonly onChange: (message: string) => void;
}

export interface OpenedLookup {
  readonly lookup: Lookup;
  /** Tells when enough lookups are queued. */
  readonly slots: Slots;
  /** Tracks which endpoints answered anything but 404. */
  readonly address: AddressWatch;
  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  readonly pausedMs: () => number;
  /** Whether nothing but errors comes from the service. */
  readonly isAway: () => boolean;
  /** Ends the use, and makes its answers visible to other uses of the cache. The session stays open. */
  close(): Promise<void>;
}
