import type { Attempt, Finding } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";

export interface LookupOptions {
  /** Aborting it rejects the lookup with the signal's reason. */
  readonly signal: AbortSignal;
  readonly row?: number | undefined;
  /** What has happened in this lookup so far; shared by its attempts. */
  readonly history?: LookupHistory | undefined;
}

/** The history of one lookup. Each layer adds its part; the journal stores the total. */
export interface LookupHistory {
  /** HTTP status or error code of each request not journalled yet. */
  readonly outcomes: string[];
  /** Finished attempts, in order. */
  readonly attempts: Attempt[];
  /** Whether the journal has the finding. */
  journalled: boolean;
}

/**
 * Looks one item up. Resolves to a finding whatever the service did; rejects only if the run cannot
 * continue (credentials refused, aborted, disk full).
 */
export type Lookup = (item: Item, options: LookupOptions) => Promise<Finding>;

/** Adds one concern to a lookup, such as dedupe or cache. */
export type LookupWrapper = (next: Lookup) => Lookup;

/** Makes one request for an item. Rejects only if the run cannot continue. */
export type AttemptLookup = (item: Item, options: LookupOptions) => Promise<Attempt>;

/** Adds one concern to each attempt, such as breaker, limit, journal or pace. */
export type AttemptWrapper = (next: AttemptLookup) => AttemptLookup;
