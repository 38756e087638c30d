import { setImmediate as turn } from "node:timers/promises";
import { type Finding, lookupEndpoints, type LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { raceAbort } from "../../core/abort.js";
import { formatCount } from "../../core/quantity.js";
import type { LookupChoice } from "../../lookup/options.js";
import type { Lookup } from "../../lookup/types.js";
import { cacheKeys } from "../../store/cache/cache-key.js";
import { expiredRank } from "../../store/cache/expired-rank.js";
import { RefreshQueue } from "../../store/cache/refresh-queue.js";
import type { StoredFinding } from "../../store/store.js";
import { type RowMoveOptions, settleLookups } from "../run/move-rows.js";
import type { RowJob } from "../run/reading.js";
import type { EnrichJob } from "../types.js";
import type { AssembledLookup } from "./assemble-lookup.js";
import { checkRefresh } from "./check-refresh.js";

type Ending = Pick<RowMoveOptions, "signals" | "clock">;

interface RefreshOptions extends Ending {
  /** Saves a checkpoint if one is due, and at an early end. */
  readonly save: (last: boolean) => Promise<void>;
}

/**
 * Looks up the items whose cached answers have expired, worst first, before the rows are moved. Their
 * answers are journalled for the first row that asks, so a resumed run continues after them.
 *
 * @throws UsageError, or the reason why the run was stopped
 */
export async function refreshWorstFirst(
  job: EnrichJob,
  rows: RowJob,
  lookup: Pick<AssembledLookup, "lookup" | "cache">,
  options: RefreshOptions,
): Promise<void> {
  const { cache } = lookup;
  const expired = await checkRefresh(job.input, cache?.store);
  const queue = new RefreshQueue();
  try {
    const { lookups, concurrency } = job.settings;
    const find = finderOf(cache!.address, lookups, expired);
    await fill(queue, rows, find, options.signals.stop);
    if (queue.size > 0) job.onNotice?.(noticeOf(queue.size));
    await lookUpAll(queue, lookup.lookup, concurrency, options);
  } finally {
    queue.close();
  }
}

function noticeOf(items: number): string {
  return items === 1
    ? "asking first for the item whose cached answer has expired"
    : `asking first for the ${formatCount(items)} items whose cached answers have expired`;
}

type Find = (item: Item) => readonly StoredFinding[];

function finderOf(
  address: string,
  lookups: readonly LookupChoice[],
  expired: (key: string) => StoredFinding | null,
): Find {
  const asked: readonly LookupEndpoint[] = lookups.includes("triage")
    ? lookupEndpoints
    : lookupEndpoints.filter((endpoint) => lookups.includes(endpoint));
  const keys = asked.map((endpoint) => cacheKeys(address, endpoint));
  return (item) => keys.map((keyOf) => expired(keyOf(item))).filter((found) => found !== null);
}

async function fill(
  queue: RefreshQueue,
  rows: RowJob,
  find: Find,
  signal: AbortSignal,
): Promise<void> {
  // One promise shared by all items; nothing awaits it.
  const never = new Promise<Finding>(() => undefined);
  const start = rows.start((item, { row = 0 }) => {
    const rank = expiredRank(find(item));
    if (rank !== null) queue.add({ item, row, ...rank });
    return never;
  });
  const source = await rows.open(null);
  try {
    for await (const batch of source.rows) {
      for (const row of batch) start(row, signal);
      await turn();
      signal.throwIfAborted();
    }
  } finally {
    await source.close();
  }
}

/** Keeps enough lookups started that no slot is idle. The first error stops the run. */
async function lookUpAll(
  queue: RefreshQueue,
  lookup: Lookup,
  concurrency: number,
  { signals, clock, save }: RefreshOptions,
): Promise<void> {
  const { stop: signal } = signals;
  const open = new Set<Promise<void>>();
  for (const { item, row } of queue.inOrder()) {
    if (signal.aborted) break;
    const done: Promise<void> = lookup(item, { signal, row })
      .then(
        () => undefined,
        (error: unknown) => signals.end(error),
      )
      .finally(() => open.delete(done));
    open.add(done);
    if (open.size < 2 * concurrency) continue;
    await Promise.race(open);
    await save(false).catch((error: unknown) => signals.end(error));
  }
  const settled = Promise.all(open).then(() => undefined);
  await raceAbort(settled, signal).catch(() => undefined);
  if (!signal.aborted) return;
  await settleLookups(signal.reason, settled, { signals, clock });
  // What stopped the run is the reason to report, even if its disk is full.
  await save(true).catch(() => undefined);
  signal.throwIfAborted();
}
