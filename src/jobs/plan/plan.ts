import { Writable } from "node:stream";
import { AddressWatch } from "../../client/lookup/address-watch.js";
import { cachedAnswers, type CachedOptions } from "../../client/lookup/cache.js";
import { showsSomething } from "../../client/lookup/combine.js";
import { isReserved, type Withheld } from "../../client/lookup/withheld.js";
import { Slots } from "../../client/pace/slots.js";
import type { ServiceAccess } from "../../client/session/session.js";
import {
  eachEndpoint,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
  unasked,
} from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { isQuota, type Rate } from "../../core/options.js";
import { enrich } from "../enrich/execute.js";
import { enrichOptions, type FlatSettings, inGroups } from "../enrich/options.js";
import { KnownItems } from "../enrich/rows/known-items.js";
import type { EnrichJob } from "../enrich/types.js";

type Told = Pick<EnrichJob, "input" | "signal" | "clock" | "onWarning" | "onNotice">;

interface PlanJob extends Told {
  /** Those of the run; others are as by default. */
  readonly settings: Pick<FlatSettings, "lookups"> & Partial<FlatSettings>;
  readonly pace: PlannedPace;
  /** What the run would not send. */
  readonly withheld: Withheld;
  /** Answers that the run would already have. @default none */
  readonly cache?: CachedAnswers | null;
}

type CachedAnswers = Omit<CachedOptions, "endpoint">;

/** Estimate for a run over an input, and what it would not look up. */
export type Plan = Awaited<ReturnType<typeof plan>>;

/** Makes a run that asks nothing and discards its rows, and estimates requests and time. */
export async function plan(job: PlanJob) {
  const { settings, cache = null, withheld, onWarning } = job;
  const chosen = lookupEndpoints.filter((endpoint) => settings.lookups.includes(endpoint));
  const items = plannedItems(withheld, cache);
  const told = new Set<string>();
  const counts = await enrich({
    ...job,
    settings: inGroups({ ...enrichOptions.parse({}), ...settings, ...acceptsAll, ...writesLittle }),
    session: countingSession(items, withheld),
    stdout: new Writable({ write: (_rows, _encoding, done) => done() }),
    command: [],
    onWarning(message) {
      told.add(message);
      onWarning?.(message);
    },
  });
  const requests = items.requests(chosen);
  const lookups = chosen.length > 0 ? chosen.join(",") : "triage";
  const asked = Object.values(requests[lookups]!);
  const most = asked.reduce<number>((sum, n) => sum + (typeof n === "number" ? n : n.most), 0);
  const { kinds, unsupported, statuses, exclusions = [], elsewhere, inside_cells } = counts;
  const untold = Object.entries(counts.warnings).filter(([message]) => !told.has(message));
  return {
    rows: counts.input.rows,
    /** Rows by kind of item. */
    kinds,
    /** Rows without an item by reason, most frequent first. */
    unsupported,
    /** Rows that could not be read as records. */
    unreadable: statuses.failed,
    distinct_items: items.distinct(),
    duplicate_rows: items.counts.rows - items.distinct(),
    /** Rows that each exclusion list holds back, by its path. They are also `unsupported`. */
    excluded: Object.fromEntries(exclusions.map(({ path, rows: held }) => [path, held])),
    /** Distinct addresses in reserved ranges that no list holds back. `--bogons local` answers them without a request. */
    bogons: items.counts.bogons,
    /** Distinct items with a fresh answer in the cache, by endpoint. */
    cached: Object.fromEntries(
      lookupEndpoints.map((endpoint) => [memberOf(endpoint), items.cached[endpoint]]),
    ),
    /** Requests for each value of `--lookups`, with `--bogons` as given. */
    requests,
    /** Cost of the given `--lookups`: requests in total (at most, under triage) and time. */
    chosen: { lookups, requests: most, ...timeOf(job.pace, most) },
    warnings: Object.fromEntries(untold),
    ...(elsewhere !== undefined && { elsewhere }),
    ...(inside_cells !== undefined && { inside_cells }),
  };
}

/** Limits that no input exceeds. */
const acceptsAll = { maxFailed: { percent: 100 }, minRows: { rows: 0 } } as const;

/** Rows are discarded, so a clash of their columns doesn't matter either. */
const writesLittle = { to: "csv", inputColumns: [], columns: ["status"] } as const;

const nowhere: ServiceAccess = { url: "", name: "", credential: null, embedded: false };

/** A session whose lookups only count their items. */
function countingSession(
  items: Pick<ReturnType<typeof plannedItems>, "add">,
  withheld: Withheld,
): EnrichJob["session"] {
  return {
    service: nowhere,
    withheld: () => Promise.resolve(withheld),
    lookup: async () => ({
      async lookup(item) {
        items.add(item);
        return withheld.answer(item) ?? unasked("complete", null);
      },
      slots: new Slots(1),
      address: new AddressWatch(nowhere.url),
      pausedMs: () => 0,
      isAway: () => false,
      close: () => Promise.resolve(),
    }),
  };
}

/**
 * Requests per endpoint, keyed by member name. Under `triage`, the number of queries depends on the
 * results of the quick checks.
 */
type PlannedRequests = Readonly<
  Record<string, number | { readonly least: number; readonly most: number }>
>;

/** Counts distinct items and the requests that looking them up would take. */
function plannedItems(withheld: Withheld, cache: CachedAnswers | null) {
  const seen = new KnownItems();
  const answers = cache && eachEndpoint((endpoint) => cachedAnswers({ ...cache, endpoint }));
  /** Distinct items with a usable answer, by endpoint. */
  const cached = eachEndpoint(() => 0);
  /** Queries that triage makes for certain, and those that depend on a quick check. */
  const triage = { certain: 0, possible: 0 };
  const counts = { rows: 0, bogons: 0, unsent: 0 };
  const count = (item: Item): void => {
    const found = eachEndpoint((endpoint) => answers?.[endpoint].get(item) ?? null);
    for (const endpoint of lookupEndpoints) if (found[endpoint] !== null) cached[endpoint]++;
    const quickCheck = found["quick-check"];
    if (found.query !== null || (quickCheck !== null && !showsSomething(quickCheck))) return;
    triage[quickCheck === null ? "possible" : "certain"]++;
  };
  return {
    cached,
    counts,
    distinct: () => seen.size,
    add(item: Item): void {
      counts.rows++;
      const isListed = withheld.listOf(item) !== null;
      const sent = isListed ? item : withheld.asSent(item);
      if (!seen.add(sent)) return;
      if (!isListed && isReserved(item)) counts.bogons++;
      if (withheld.answer(item) === null) count(sent);
      else counts.unsent++;
    },
    /**
     * Requests for each common value of `--lookups`, and for the chosen one.
     *
     * @param chosen its endpoints in the order of `lookupEndpoints`; empty for `triage`
     */
    requests(chosen: readonly LookupEndpoint[]): Record<string, PlannedRequests> {
      const { certain, possible } = triage;
      const asked = (endpoint: LookupEndpoint) => seen.size - counts.unsent - cached[endpoint];
      const only = (...asking: readonly LookupEndpoint[]): PlannedRequests =>
        Object.fromEntries(
          lookupEndpoints.map((one) => [memberOf(one), asking.includes(one) ? asked(one) : 0]),
        );
      return {
        [lookupEndpoints.join(",")]: only(...lookupEndpoints),
        ...(chosen.length > 0 && { [chosen.join(",")]: only(...chosen) }),
        ...eachEndpoint((endpoint) => only(endpoint)),
        triage: { ...only("quick-check"), query: { least: certain, most: certain + possible } },
      };
    },
  };
}

interface PlannedPace {
  /** Empty for no limit. */
  readonly rates: readonly Rate[];
  /** How much of a quota earlier runs used within its window. @default nothing */
  readonly spent?: ((quota: Rate) => number) | undefined;
}

/**
 * Assumes that the used part of a quota returns at the end of a window that starts now.
 *
 * @param requests of the run, to all endpoints together
 * @returns seconds at the given rates, null without rates; and how many runs it takes until one is complete,
 *   if there is one a night, each with `--resume` and all of its quotas
 */
export function timeOf({ rates, spent }: PlannedPace, requests: number) {
  const smooth = rates.filter((rate) => !isQuota(rate));
  const spaced = (count: number): number =>
    Math.max(0, ...smooth.map((rate) => ((count - 1) * rate.perMs) / rate.count / 1000));
  const times = [spaced(requests)];
  let nights = 1;
  for (const quota of rates.filter(isQuota)) {
    const { count, perMs } = quota;
    const taken = Math.min(count, spent?.(quota) ?? 0);
    nights = Math.max(nights, 1 + Math.ceil((requests - (count - taken)) / count));
    // Count whole windows; within the last one, the other rates decide.
    const windows = Math.max(0, Math.floor((taken + requests - 1) / count));
    const rest = windows === 0 ? requests : taken + requests - windows * count;
    times.push((windows * perMs) / 1000 + spaced(rest));
  }
  return { seconds: rates.length === 0 ? null : Math.max(...times), nights };
}
