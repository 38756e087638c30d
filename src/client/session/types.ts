import type { AttemptReport } from "../api/types.js";
import type { Clock } from "../../core/clock.js";
import type { EarlyEndError } from "../../core/errors.js";
import type { AddressWatch } from "../lookup/address-watch.js";
import type { LookupSettings } from "../lookup/options.js";
import type { Slots } from "../pace/slots.js";
import type { Lookup } from "../lookup/types.js";
import type { MadeUp } from "../../core/finding.js";

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
