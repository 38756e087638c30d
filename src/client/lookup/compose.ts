import {
  type Attempt,
  isOverQuota,
  type LookupRecord,
  type LookupEndpoint,
  lookupEndpoints,
  type Finding,
} from "../../core/finding.js";
import { EarlyEndError } from "../../core/errors.js";
import type { IntelClient } from "../api/intel-client.js";
import { cached, type CachedOptions } from "./cache.js";
import { allLookups, triage } from "./combine.js";
import type { LookupSettings } from "./options.js";
import type { Outage } from "./attempt/outage.js";
import { reportTo, type RequestPace } from "../pace/pace.js";
import { conclude, retry, type RetryOptions } from "./attempt/retry.js";
import type { Slots } from "../pace/slots.js";
import type { LookupStore } from "../store/store.js";
import type { Withheld } from "./withheld.js";
import type {
  AttemptLookup,
  AttemptWrapper,
  Lookup,
  LookupWrapper,
  LookupHistory,
  LookupOptions,
} from "./types.js";
import type { Item, ItemKind } from "../../core/item/item.js";
import { AbortGroups, raceAbort } from "../../core/abort.js";
import { ShortLivedMap } from "../../core/short-lived-map.js";

interface BudgetOptions {
  readonly maxRequests: number;
  readonly onSpent: (error: EarlyEndError) => void;
}

interface ComposeOptions extends RetryOptions {
  readonly client: Pick<IntelClient, "attempt">;
  /** Cancels open requests, instead of the signal of each lookup. */
  readonly requests?: AbortSignal | undefined;
  readonly lookups: LookupSettings["lookups"];
  /** What must not be sent. Default: nothing. */
  readonly withheld?: Withheld | undefined;
  readonly budget?: BudgetOptions | undefined;
  readonly slots: Slots;
  readonly pace: RequestPace;
  /** Ends the run if its first lookups show that nothing answers at the address. */
  readonly failFast?: LookupWrapper | undefined;
  /** Circuit breaker; without it, lookups use up their retries while the service is down. */
  readonly outage?: Outage | undefined;
  readonly store: LookupStore;
  /** Whether `store` may hold attempts of an interrupted run. Default false. */
  readonly isResumed?: boolean | undefined;
  /** Whether `store` takes answers from the cache, which keeps them itself, for longer. Default false. */
  readonly keepsCached?: boolean | undefined;
  /** Answers of earlier runs. Default: none. */
  readonly cache?: Omit<CachedOptions, "endpoint"> | undefined;
}

/**
 * Assembles the lookup of a run. For each endpoint, an item passes through:
 *
 *     dedupe ─▶ cached ─▶ failFast ─▶ retry ─▶ breaker ─▶ limit ─▶ journalled ─▶ pace ─▶ budget ─▶ client
 *
 * - dedupe is outermost, so nothing is done twice.
 * - cached sees the combined result of all attempts.
 * - retry is outside limit, so lookups that wait for their next attempt hold no slot.
 * - journalled is inside limit, so a kill loses at most what was open.
 * - limit is outside pace, so every attempt spends from the rate.
 *
 * All endpoints share breaker, limit, pace and budget.
 */
export function composeLookup(options: ComposeOptions): Lookup {
  const { client, requests, lookups, store, cache, outage, slots } = options;
  const limits = {
    outage: outage?.hold,
    pace: paced(options.pace),
    budget: options.budget && budget(options.budget),
  };
  const retried = retry(options);
  const chain = (endpoint: LookupEndpoint): Lookup => {
    const attempt = wrapped<AttemptLookup>(
      [limits.outage, slots.limit, journalled(endpoint, store), limits.pace, limits.budget],
      (item, { signal: stop, history }) => {
        const nth = (history?.attempts.length ?? 0) + 1;
        return client.attempt(endpoint, item, { signal: requests ?? stop, stop, nth });
      },
    );
    return wrapped<Lookup>(
      [dedupe(endpoint, options), cache && cached({ ...cache, endpoint }), options.failFast],
      retried(attempt),
    );
  };
  const lookup = choose(lookups, chain);
  return options.withheld?.wrap(lookup) ?? lookup;
}

/** Wraps a function in the concerns that are defined, the first outermost. */
function wrapped<F>(concerns: readonly (((next: F) => F) | undefined)[], inner: F): F {
  return concerns.reduceRight((next, wrap) => wrap?.(next) ?? next, inner);
}

function choose(
  lookups: LookupSettings["lookups"],
  chain: (endpoint: LookupEndpoint) => Lookup,
): Lookup {
  if (lookups.includes("triage")) return triage(chain("query"), chain("quick-check"));
  const chosen = lookupEndpoints.filter((endpoint) => lookups.includes(endpoint));
  const chains = chosen.map((endpoint) => [endpoint, chain(endpoint)] as const);
  return chains.length === 1 ? chains[0]![1] : allLookups(chains);
}

/**
 * Counts attempts and refuses those over budget. Sits right before the client, so waiting attempts
 * don't count; one wrapper serves all endpoints.
 *
 * @throws EarlyEndError `requests_spent`
 */
function budget({ maxRequests, onSpent }: BudgetOptions): AttemptWrapper {
  let sent = 0;
  let spent: EarlyEndError | null = null;
  return (next) => (item, options) => {
    if (sent < maxRequests) {
      sent++;
      return next(item, options);
    }
    if (spent === null) {
      spent = new EarlyEndError("requests_spent", `--max-requests ${maxRequests} is used up`);
      onSpent(spent);
    }
    return Promise.reject(spent);
  };
}

/** Spends from the run's pace for every attempt and reports the outcome to it. */
export function paced(run: RequestPace): AttemptWrapper {
  return (next) => async (item, options) => {
    const ticket = await run.take(options.signal);
    const attempt = await next(item, options);
    const { again, finding } = attempt;
    reportTo(run, ticket, { again, httpStatus: finding.httpStatus });
    return attempt;
  };
}

/**
 * Journals each answer before its slot is released, so a kill loses at most the requests that were
 * open. An answer that will be retried gets its own key, so a resumed run continues with the remaining
 * attempts.
 */
function journalled(endpoint: LookupEndpoint, store: LookupStore): AttemptWrapper {
  return (next) => async (item, options) => {
    const attempt = await next(item, options);
    const { history } = options;
    const earlier = history?.attempts ?? [];
    history?.outcomes.push(attempt.outcome);
    if (attempt.again === null) {
      if (history !== undefined) history.journalled = true;
      store.put(itemKey(endpoint, item), recordOf(conclude([...earlier, attempt]), options));
    } else if (!isOverQuota(attempt)) {
      // If no retry is left, dedupe stores the whole lookup. A quota is no reason to give up.
      const key = attemptKey(endpoint, item, earlier.length + 1);
      store.put(key, recordOf({ ...attempt, drift: [] }, options));
    }
    return attempt;
  };
}

/** Makes a record with the asking row and the requests not recorded yet. */
function recordOf(
  { finding, again = null, drift, body }: ReturnType<typeof conclude> & Partial<Attempt>,
  { row, history }: LookupOptions,
): LookupRecord {
  const outcomes = history?.outcomes.splice(0) ?? [];
  return { finding, again, drift, body, origin: { row: row ?? null, outcomes } };
}

export function itemKey(endpoint: LookupEndpoint, item: Item): string {
  return `${endpoint} ${item.kind} ${item.value}`;
}

/** Key of one attempt of a retried lookup, counted from 1. */
export function attemptKey(endpoint: LookupEndpoint, item: Item, attempt: number): string {
  return `${endpoint}#${attempt} ${item.kind} ${item.value}`;
}

export function itemOf(key: string): Item {
  const [, kind, value = ""] = /^\S+ (\S+) (.*)$/s.exec(key) ?? [];
  return { kind: kind as ItemKind, value };
}

interface InFlight {
  readonly finding: Promise<Finding>;
  readonly signal: AbortSignal;
}

/**
 * Looks each item up once. Callers that arrive while a lookup is in flight share its answer; later
 * callers read it from the store. Both are marked `duplicate` unless the answer came from a cache.
 * The row that asked first keeps the original, even across an interruption.
 *
 * A finding is stored before any caller sees it, failures included. Rejections (abort, fatal) are not
 * stored. Memory is bounded by lookups in flight and by the store.
 */
export function dedupe(
  endpoint: LookupEndpoint,
  options: Pick<ComposeOptions, "store" | "isResumed" | "keepsCached">,
): LookupWrapper {
  const { store, isResumed = false, keepsCached = false } = options;
  return (next) => {
    const open = new ShortLivedMap<string, InFlight>();
    const aborts = new AbortGroups();

    const lookup: Lookup = (item, options) => {
      const key = itemKey(endpoint, item);
      const inFlight = open.get(key);
      if (inFlight) return join(inFlight, options, aborts, () => lookup(item, options));
      const history: LookupHistory = { outcomes: [], attempts: [], journalled: false };
      try {
        const record = store.get(key);
        if (record !== null) return Promise.resolve(fromStore(record, options));
        if (isResumed) history.attempts.push(...attemptsBefore(endpoint, item, store));
      } catch (error) {
        return Promise.reject(error);
      }
      const { signal, row } = options;
      const own = { signal, row, history };
      const finding = next(item, own).then(
        (found) => {
          open.take(key);
          const isCached = found.source === "cache";
          if (history.journalled || (isCached && !keepsCached)) return found;
          const { attempts } = history;
          const drift = attempts.length === 0 ? [] : conclude(attempts).drift;
          const record = { finding: found, again: null, drift };
          // Without an origin, a cached answer stays one.
          store.put(key, isCached ? record : recordOf(record, own));
          return found;
        },
        (error: unknown) => {
          open.take(key);
          throw error;
        },
      );
      open.set(key, { finding, signal });
      return finding;
    };
    return lookup;
  };
}

/** The attempts of the interrupted run. */
function attemptsBefore(endpoint: LookupEndpoint, item: Item, store: LookupStore): Attempt[] {
  const attempts: Attempt[] = [];
  for (;;) {
    const attempt = store.get(attemptKey(endpoint, item, attempts.length + 1));
    if (attempt === null) return attempts;
    attempts.push({ ...attempt, outcome: String(attempt.finding.httpStatus) });
  }
}

/** Waits for a lookup in flight. Callers with different signals abort independently. */
async function join(
  { finding, signal }: InFlight,
  options: LookupOptions,
  aborts: AbortGroups,
  askAgain: () => Promise<Finding>,
): Promise<Finding> {
  if (signal === options.signal) return asDuplicate(await finding);
  try {
    return asDuplicate(await raceAbort(finding, options.signal, undefined, aborts));
  } catch (error) {
    if (signal.aborted && !options.signal.aborted) return askAgain();
    throw error;
  }
}

/** A stored finding, for the row that asked first or for a later one. */
function fromStore({ finding, origin }: LookupRecord, { row }: LookupOptions): Finding {
  // Taken over from another run.
  if (origin === undefined) return { ...finding, source: "cache" };
  const isFirst = row !== undefined && origin.row === row;
  return isFirst ? finding : asDuplicate(finding);
}

/** A cached answer stays `cache` for every row. */
function asDuplicate(finding: Finding): Finding {
  if (finding.source === "cache") return finding;
  return { ...finding, source: "duplicate" };
}
