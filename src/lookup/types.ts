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
  /** What the attempts before the one under way came to, in order. */
  readonly tried: Finding[];
}

/**
 * Looks one item up. Resolves to a finding whatever the service did; rejects only when the run
 * cannot go on (credentials refused, aborted, the journal's disk full).
 */
export type Lookup = (item: Item, options: LookupOptions) => Promise<Finding>;

/** Adds one concern around a lookup: pace, retry, dedupe, cache … */
export type LookupWrapper = (next: Lookup) => Lookup;
