import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { abortable, raceAbort } from "../../core/abort.js";
import { type Finding, lookupEndpoints, memberOf, unasked } from "../../core/finding.js";
import type { ItemKind } from "../../core/item/item.js";
import { type ResourceStack, withResources } from "../../core/resource-stack.js";
import type { Clock } from "../../core/clock.js";
import type { RunInput } from "../../io/input/types.js";
import type { Withheld } from "../../client/lookup/withheld.js";
import type { FlatSettings } from "../enrich/options.js";
import type { Row } from "../../core/row.js";
import { announceReading, firstRows, inputReading, startRow } from "../enrich/rows/reading.js";
import { type ElsewhereCounts, insideWarning } from "../enrich/elsewhere.js";
import { Tally, type TallySnapshot } from "../enrich/tally.js";
import {
  type CachedAnswers,
  findCached,
  PlannedItems,
  type PlannedRequests,
} from "../enrich/planned-items.js";
import type { ReadingSettings, RowSource, StartRow } from "../enrich/row-source.js";
import { isQuota, type Rate } from "../../core/options.js";

interface PlanJob {
  readonly input: RunInput;
  readonly settings: ReadingSettings & Pick<FlatSettings, "lookups" | "prefix" | "limit">;
  readonly pace: PlannedPace;
  /** What the run would not send. */
  readonly withheld: Withheld;
  /** Answers that the run would already have. @default none */
  readonly cache?: CachedAnswers | null;
  readonly signal: AbortSignal;
  /** @default the machine's */
  readonly clock?: Clock;
  readonly onWarning?: (message: string) => void;
  /** As in `EnrichJob`. */
  readonly onNotice?: (message: string) => void;
}

/** Estimate for a run over an input, and what it would not look up. */
export interface Plan extends ElsewhereCounts {
  readonly rows: number;
  /** Rows by kind of item. */
  readonly kinds: Readonly<Record<ItemKind, number>>;
  /** Rows without an item by reason, most frequent first. */
  readonly unsupported: Readonly<Record<string, number>>;
  /** Rows that could not be read as records. */
  readonly unreadable: number;
  readonly distinct_items: number;
  readonly duplicate_rows: number;
  /** Rows that each exclusion list holds back, by its path. They are also `unsupported`. */
  readonly excluded: Readonly<Record<string, number>>;
  /** Distinct addresses in reserved ranges that no list holds back. `--bogons local` answers them without a request. */
  readonly bogons: number;
  /** Distinct items with a fresh answer in the cache, by endpoint. */
  readonly cached: Readonly<Record<string, number>>;
  /** Requests for each value of `--lookups`, with `--bogons` as given. */
  readonly requests: Readonly<Record<string, PlannedRequests>>;
  /** Cost of the given `--lookups`: requests in total (at most, under triage) and time. */
  readonly chosen: PlannedTime & {
    readonly lookups: string;
    readonly requests: number;
  };
  readonly warnings: Readonly<Record<string, number>>;
}

/**
 * Reads an input as a run would, sends nothing, and estimates requests and time.
 *
 * @throws UsageError, FatalError if the input cannot be read, as in a run
 */
export async function plan(job: PlanJob): Promise<Plan> {
  const { lookups } = job.settings;
  const { cache = null, withheld } = job;
  const chosen = lookupEndpoints.filter((endpoint) => lookups.includes(endpoint));
  const items = new PlannedItems({ withheld, find: cache && findCached(cache), chosen });
  const counts = await withResources(async (stack) =>
    countRows(job, await readingFor(job, stack), items),
  );
  const { rows, kinds, unsupported, statuses, exclusions, warnings } = counts;
  const { elsewhere, inside_cells } = counts;
  return {
    rows,
    kinds,
    unsupported,
    unreadable: statuses.failed,
    distinct_items: items.distinct,
    duplicate_rows: items.rows - items.distinct,
    excluded: Object.fromEntries((exclusions ?? []).map(({ path, rows: held }) => [path, held])),
    bogons: items.bogons,
    cached: Object.fromEntries(
      lookupEndpoints.map((endpoint) => [memberOf(endpoint), items.cached[endpoint]]),
    ),
    requests: items.requests(),
    chosen: costOf(job, items, chosen.length > 0 ? chosen.join(",") : "triage"),
    warnings,
    ...(elsewhere !== undefined && { elsewhere }),
    ...(inside_cells !== undefined && { inside_cells }),
  };
}

function costOf({ pace }: PlanJob, items: PlannedItems, lookups: string): Plan["chosen"] {
  const requests = items.requests()[lookups] ?? {};
  const most = Object.fromEntries(
    Object.entries(requests).map(([name, n]) => [name, typeof n === "number" ? n : n.most]),
  );
  const total = Object.values(most).reduce((sum, n) => sum + n, 0);
  return { lookups, requests: total, ...timeOf(pace, total) };
}

async function countRows(
  job: PlanJob,
  rows: Pick<RowSource, "open">,
  items: PlannedItems,
): Promise<TallySnapshot> {
  const { signal, withheld } = job;
  const tally = new Tally();
  tally.exclusions.name(withheld.lists);
  const start = startRow(() => neverFound);
  const source = await raceAbort(rows.open(null), signal, (late) => late.close());
  tally.elsewhere.watch(source, withheld.isListed);
  announceReading(job, source);
  try {
    for await (const batch of abortable(firstRows(source.rows, job.settings.limit), signal)) {
      for (const row of batch) countRow(row, start(row, signal), { tally, items, withheld });
      await items.counted();
    }
    for (const [message, times] of source.warnings) tally.warning(message, times);
  } finally {
    await source.close();
  }
  const counts = tally.snapshot();
  const inside = insideWarning(job.input, counts);
  if (inside !== null) job.onWarning?.(inside);
  return counts;
}

/** One promise shared by all items that would be looked up; nothing awaits it. */
const neverFound = new Promise<Finding>(() => undefined);

interface PlanCounts {
  readonly tally: Tally;
  readonly items: PlannedItems;
  readonly withheld: Withheld;
}

function countRow(
  row: Row,
  { item, finding }: ReturnType<StartRow>,
  { tally, items, withheld }: PlanCounts,
): void {
  if (!(finding instanceof Promise)) tally.row({ row, item, finding });
  else if (item !== null) {
    items.add(item);
    tally.row({ row, item, finding: withheld.answer(item) ?? unasked("complete", null) });
  }
}

/** Opens the input. What has to be copied goes to a temporary folder. */
export async function readingFor(
  {
    input,
    settings,
    withheld,
    signal,
    onNotice,
  }: Pick<PlanJob, "input" | "signal" | "onNotice"> &
    Partial<Pick<PlanJob, "withheld">> & {
      readonly settings: ReadingSettings;
    },
  stack: ResourceStack,
): Promise<RowSource> {
  const rows = inputReading(input, { ...settings, isHeld: withheld?.isListed });
  if (rows.copied === undefined) return rows;
  const { open, make } = rows.copied({
    folder: await scratch(stack),
    shape: "cells",
    signal,
    onNotice,
  });
  await make(false);
  return { ...rows, open };
}

async function scratch(stack: ResourceStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface PlannedPace {
  /** Empty for no limit. */
  readonly rates: readonly Rate[];
  /** How much of the quotas earlier runs used. @default none */
  readonly spent?: Spent | undefined;
}

/** Returns how much of a quota is used. */
type Spent = (quota: Rate) => number;

/** When a quota would be used up. */
interface QuotaEnd {
  /** Requests in the window, and the length of the window in seconds. */
  readonly count: number;
  readonly per_seconds: number;
  /** Seconds from the start until it is used up. */
  readonly used_up_after_seconds: number;
  /** Requests still to be made by then. */
  readonly left: number;
}

/** A quota, and how much of it earlier runs used within its window. */
interface QuotaUse {
  readonly count: number;
  readonly per_seconds: number;
  readonly spent: number;
}

interface PlannedTime {
  /** Seconds at the given rates; null without rates. */
  readonly seconds: number | null;
  /** The quotas among the rates, and how much of them earlier runs used. */
  readonly quotas: readonly QuotaUse[];
  readonly quota_ends: readonly QuotaEnd[];
  /** Runs until one is complete, if there is one a night, each with `--resume` and all of its quotas. */
  readonly nights: number;
}

/** @param requests of the run, to all endpoints together */
export function timeOf({ rates, spent }: PlannedPace, requests: number): PlannedTime {
  const ends = quotaEnds(requests, rates, spent);
  return {
    seconds: secondsFor(requests, rates, spent),
    quotas: quotaUse(rates, spent),
    quota_ends: ends,
    nights: 1 + Math.max(0, ...ends.map(({ left, count }) => Math.ceil(left / count))),
  };
}

const nothing: Spent = () => 0;

/**
 * Upper limit in seconds for this many requests at these rates. Assumes that the used part of a
 * quota returns at the end of a window that starts now.
 *
 * @returns null without rates
 */
function secondsFor(
  requests: number,
  rates: readonly Rate[],
  spent: Spent = nothing,
): number | null {
  if (rates.length === 0) return null;
  return Math.max(0, ...rates.map((rate) => secondsWithin(requests, rate, rates, spent)));
}

/** The quotas among the rates. */
function quotaUse(rates: readonly Rate[], spent: Spent = nothing): readonly QuotaUse[] {
  return rates.filter(isQuota).map((rate) => ({
    count: rate.count,
    per_seconds: rate.perMs / 1000,
    spent: Math.min(rate.count, spent(rate)),
  }));
}

function quotaEnds(
  requests: number,
  rates: readonly Rate[],
  spent: Spent = nothing,
): readonly QuotaEnd[] {
  const smooth = rates.filter((rate) => !isQuota(rate));
  return quotaUse(rates, spent)
    .filter((quota) => requests > quota.count - quota.spent)
    .map((quota) => {
      const free = quota.count - quota.spent;
      return {
        count: quota.count,
        per_seconds: quota.per_seconds,
        used_up_after_seconds: secondsFor(free, smooth) ?? 0,
        left: requests - free,
      };
    });
}

function secondsWithin(requests: number, rate: Rate, rates: readonly Rate[], spent: Spent): number {
  if (requests === 0) return 0;
  if (!isQuota(rate)) return ((requests - 1) * rate.perMs) / rate.count / 1000;
  // Count whole windows; within the last one, the other rates decide.
  const taken = Math.min(rate.count, spent(rate));
  const windows = Math.floor((taken + requests - 1) / rate.count);
  const rest = windows === 0 ? requests : taken + requests - windows * rate.count;
  const others = rates.filter((other) => !isQuota(other));
  return (windows * rate.perMs) / 1000 + (secondsFor(rest, others) ?? 0);
}
