import { type Finding, lookupEndpoints, memberOf } from "../../core/finding.js";
import type { ItemKind } from "../../core/item/item.js";
import { type Row, rowWarnings } from "../../core/row.js";
import type { Rate } from "../../core/options.js";
import type { RunInput } from "../../inputs/types.js";
import {
  type QuotaEnd,
  quotaEnds,
  quotaUse,
  type QuotaUse,
  secondsFor,
  type Spent,
} from "./plan-time.js";
import type { EnrichSettings } from "../options.js";
import { type PlannedCache, PlannedItems, type PlannedRequests } from "./planned-items.js";
import { mostFrequentFirst } from "../run/tally.js";
import {
  announceReading,
  readingOf,
  type ReadingSettings,
  type RowJob,
  type StartRow,
} from "../run/reading.js";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ResourceStack, withResources } from "../../core/resource-stack.js";
import type { CopyPlace } from "../copy/copied-input.js";
import { findTableInput } from "../copy/find-table-input.js";

export interface PlanJob {
  readonly input: RunInput;
  readonly settings: ReadingSettings & Pick<EnrichSettings, "lookups" | "bogons">;
  /** Rates that the run would obey; empty for no limit. */
  readonly rates: readonly Rate[];
  /** How much of the quotas earlier runs used. @default none */
  readonly spent?: Spent | undefined;
  /** Answers that the run would already have. @default none */
  readonly cache?: PlannedCache | null;
  readonly signal: AbortSignal;
  /** As in `EnrichJob`. */
  readonly onNotice?: (message: string) => void;
}

/** Estimate for a run over an input. */
export interface Plan {
  readonly rows: number;
  /** Rows by kind of item. */
  readonly kinds: Readonly<Record<ItemKind, number>>;
  /** Rows without an item by reason, most frequent first. */
  readonly unsupported: Readonly<Record<string, number>>;
  /** Rows that could not be read as records. */
  readonly unreadable: number;
  readonly distinct_items: number;
  readonly duplicate_rows: number;
  /** Distinct addresses in reserved ranges, which `--bogons local` answers without a request. */
  readonly bogons: number;
  /** Distinct items with a cached answer, by endpoint. */
  readonly cached: Readonly<Record<string, number>>;
  /** Requests for each value of `--lookups`, with `--bogons` as given. */
  readonly requests: Readonly<Record<string, PlannedRequests>>;
  /** Cost of the given `--lookups`: requests in total (at most, under triage) and time. */
  readonly chosen: {
    readonly lookups: string;
    readonly requests: number;
    /** Seconds at the given rates; null without rates. */
    readonly seconds: number | null;
    /** The quotas among the rates, and how much of them earlier runs used. */
    readonly quotas: readonly QuotaUse[];
    readonly quota_ends: readonly QuotaEnd[];
  };
  readonly warnings: Readonly<Record<string, number>>;
}

/**
 * Reads an input as a run would, sends nothing, and estimates requests and time.
 *
 * @throws UsageError, FatalError if the input cannot be read, as in a run
 */
export async function plan(job: PlanJob): Promise<Plan> {
  const { settings, rates, spent } = job;
  const items = new PlannedItems(settings.bogons, job.cache ?? null);
  const counts = await withResources(async (stack) =>
    countRows(job, await readingFor(job, stack), items),
  );
  const chosen = lookupEndpoints.filter((endpoint) => settings.lookups.includes(endpoint));
  const requests = items.requests(chosen);
  const lookups = chosen.length > 0 ? chosen.join(",") : "triage";
  const total = mostOf(requests[lookups]);
  return {
    rows: counts.rows,
    kinds: items.kinds,
    unsupported: mostFrequentFirst(counts.unsupported),
    unreadable: counts.unreadable,
    distinct_items: items.distinct,
    duplicate_rows: items.rows - items.distinct,
    bogons: items.bogons,
    cached: Object.fromEntries(
      lookupEndpoints.map((endpoint) => [memberOf(endpoint), items.cached[endpoint]]),
    ),
    requests,
    chosen: {
      lookups,
      requests: total,
      seconds: secondsFor(total, rates, spent),
      quotas: quotaUse(rates, spent),
      quota_ends: quotaEnds(total, rates, spent),
    },
    warnings: Object.fromEntries(counts.warnings),
  };
}

interface RowCounts {
  rows: number;
  /** Rows that could not be read as records. */
  unreadable: number;
  readonly unsupported: Map<string, number>;
  readonly warnings: Map<string, number>;
}

/** How the input is read. A table is copied to a temporary folder first. */
async function readingFor(job: PlanJob, stack: ResourceStack): Promise<RowJob> {
  const { input, settings, signal, onNotice } = job;
  const table = "path" in input ? await findTableInput(input.path) : null;
  if (table === null) return readingOf(input, settings);
  const { tableReading } = await import("../copy/copied-table.js");
  const rows = tableReading(table, settings);
  if (rows.copied === undefined) return rows;
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const place: CopyPlace = { folder, format: "tsv", keepsNulls: false, signal, onNotice };
  await rows.copied.make(place, false);
  return { ...rows, open: rows.copied.inFolder(place).open };
}

async function countRows(job: PlanJob, reading: RowJob, items: PlannedItems): Promise<RowCounts> {
  const { signal } = job;
  const counts: RowCounts = { rows: 0, unreadable: 0, unsupported: new Map(), warnings: new Map() };
  // One promise shared by all items; nothing awaits it.
  const never = new Promise<Finding>(() => undefined);
  const start = reading.start((item) => {
    items.add(item);
    return never;
  });
  const source = await reading.open(null);
  announceReading(job, source);
  try {
    for await (const batch of source.rows) {
      signal.throwIfAborted();
      for (const row of batch) countRow(row, start(row, signal), counts);
      await items.counted();
    }
    for (const [message, times] of source.warnings) count(counts.warnings, message, times);
  } finally {
    await source.close();
  }
  return counts;
}

function countRow(row: Row, { item, finding }: ReturnType<StartRow>, counts: RowCounts): void {
  counts.rows++;
  for (const message of rowWarnings(row)) count(counts.warnings, message);
  if (item !== null || finding instanceof Promise) return;
  if (finding.status === "failed") counts.unreadable++;
  else count(counts.unsupported, finding.error?.code ?? "unknown");
}

function mostOf(requests: PlannedRequests | undefined): number {
  if (requests === undefined) return 0;
  const counts = Object.values(requests).map((n) => (typeof n === "number" ? n : n.most));
  return counts.reduce((sum, n) => sum + n, 0);
}

function count(counts: Map<string, number>, name: string, times = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + times);
}
