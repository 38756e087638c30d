import type { Finding } from "../core/finding.js";
import type { Item } from "../core/item/item.js";

export interface LookupOptions {
  /** Aborting it rejects the lookup with the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Looks one item up. Resolves to a finding whatever the service did; rejects only when the run
 * cannot go on (credentials refused, aborted, the journal's disk full).
 */
export type Lookup = (item: Item, options: LookupOptions) => Promise<Finding>;

/** Adds one concern around a lookup: pace, retry, dedupe, cache … */
export type LookupWrapper = (next: Lookup) => Lookup;
