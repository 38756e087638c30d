import type { Attempt } from "../core/attempt.js";
import type { Finding } from "../core/finding.js";
import type { Item } from "../core/item/item.js";

export interface LookupOptions {
  /** Aborting it rejects the lookup with the signal's reason. */
  readonly signal: AbortSignal;
  /** Number of the row that asks. */
  readonly row?: number | undefined;
  /** What this lookup has asked so far; shared by its attempts. */
  readonly asked?: AskedSoFar | undefined;
}

/** The requests of one lookup. Each layer notes its part; the journal keeps the sum. */
export interface AskedSoFar {
  /** HTTP status or fault code of each request that no record holds yet. */
  outcomes: string[];
  /** The attempts before the one under way, in order. */
  readonly tried: Attempt[];
  /** The finding is in the journal already, as it is. */
  journalled: boolean;
  /** Drift of the answer that the finding has. */
  drift: readonly string[];
}

/**
 * Looks one item up. Resolves to a finding whatever the service did; rejects only when the run
 * cannot continue (credentials refused, aborted, the journal's disk full).
 */
export type Lookup = (item: Item, options: LookupOptions) => Promise<Finding>;

/** Adds one concern around a lookup: dedupe, cache, reachable … */
export type LookupWrapper = (next: Lookup) => Lookup;

/** Makes one request for an item; rejects only when the run cannot continue. */
export type AttemptLookup = (item: Item, options: LookupOptions) => Promise<Attempt>;

/** Adds one concern around each attempt: outage, limit, journal, pace … */
export type AttemptWrapper = (next: AttemptLookup) => AttemptLookup;
