import { stat } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import { UsageError } from "../../core/errors.js";
import {
  type Finding,
  lookupEndpoints,
  type LookupEndpoint,
  verdictOf,
} from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { raceAbort } from "../../core/abort.js";
import { inputPaths } from "../../inputs/types.js";
import type { LookupChoice } from "../../lookup/options.js";
import type { Lookup } from "../../lookup/types.js";
import { cacheKeys } from "../../store/cache/cache-key.js";
import { RefreshQueue } from "../../store/cache/refresh-queue.js";
import type { ExpiredFinding } from "../../store/store.js";
import { type RowMoveOptions, settleLookups } from "../run/move-rows.js";
import type { RowJob } from "../run/reading.js";
import type { EnrichJob } from "../types.js";
import type { AssembledLookup } from "./assemble-lookup.js";

type Ending = Pick<RowMoveOptions, "signals" | "clock">;

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
  ending: Ending,
): Promise<void> {
  const expired = lookup.cache?.store.expired?.bind(lookup.cache.store);
  if (lookup.cache === undefined || expired === undefined) {
    throw new UsageError(
      "refresh_needs_cache",
      "--refresh worst-first needs --cache with a folder",
    );
  }
  await checkInput(job);
  const queue = new RefreshQueue();
  try {
    const { lookups, concurrency } = job.settings;
    const find = finderOf(lookup.cache.address, lookups, expired);
    await fill(queue, rows, find, ending.signals.stop);
    await lookUpAll(queue, lookup.lookup, concurrency, ending);
  } finally {
    queue.close();
  }
}

async function checkInput({ input }: EnrichJob): Promise<void> {
  const paths = inputPaths(input);
  const isFiles = "path" in input || ("inputs" in input && paths.length === input.inputs.length);
  const files = isFiles ? await Promise.all(paths.map((path) => stat(path))) : [];
  if (files.length > 0 && files.every((file) => file.isFile())) return;
  throw new UsageError(
    "refresh_needs_files",
    "--refresh worst-first reads the input twice, which a pipe or an object does not allow",
  );
}

type Find = (item: Item) => readonly ExpiredFinding[];

function finderOf(
  address: string,
  lookups: readonly LookupChoice[],
  expired: (key: string) => ExpiredFinding | null,
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
    const found = find(item);
    if (found.length > 0) {
      const answers = Object.assign(
        {},
        ...found.map(({ finding }) => finding.answers),
      ) as Finding["answers"];
      const verdict = verdictOf({ ...found[0]!.finding, answers });
      queue.add({ item, row, verdict, storedAt: Math.min(...found.map((each) => each.storedAt)) });
    }
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
  ending: Ending,
): Promise<void> {
  const { signals } = ending;
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
    if (open.size >= 2 * concurrency) await Promise.race(open);
  }
  const settled = Promise.all(open).then(() => undefined);
  await raceAbort(settled, signal).catch(() => undefined);
  if (signal.aborted) await settleLookups(signal.reason, settled, ending);
  signal.throwIfAborted();
}
