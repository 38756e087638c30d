import {
  type Attempt,
  isOverQuota,
  type LookupRecord,
  type LookupEndpoint,
} from "../../../core/finding.js";
import type { Item, ItemKind } from "../../../core/item/item.js";
import type { LookupStore } from "../../store/store.js";
import type { AttemptWrapper, LookupOptions } from "../types.js";

interface JournalledOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: LookupStore;
}

/**
 * Journals each answer before its slot is released, so a kill loses at most the requests that were
 * open. An answer that will be retried gets its own key, so a resumed run continues with the remaining
 * attempts.
 */
export function journalled({ endpoint, store }: JournalledOptions): AttemptWrapper {
  const put = (item: Item, attempt: Attempt, options: LookupOptions): void => {
    const { history } = options;
    history?.outcomes.push(attempt.outcome);
    if (isFinal(attempt, options)) {
      if (history !== undefined) history.journalled = true;
      store.put(itemKey(endpoint, item), recordOf(summedUp(attempt, options), options));
      return;
    }
    // A final failure is stored with the whole lookup, by dedupe. A quota is no reason to give up.
    if (attempt.again === null || isOverQuota(attempt)) return;
    const key = attemptKey(endpoint, item, (history?.attempts.length ?? 0) + 1);
    store.put(key, recordOf({ ...attempt, drift: [] }, options));
  };
  return (next) => async (item, options) => {
    const attempt = await next(item, options);
    put(item, attempt, options);
    return attempt;
  };
}

/** Makes a record with the asking row and the requests not recorded yet. */
export function recordOf(
  { finding, again, drift, body }: Omit<LookupRecord, "origin">,
  { row = null, history }: RecordedFor,
): LookupRecord {
  const outcomes = history?.outcomes ?? [];
  if (history !== undefined) history.outcomes = [];
  return { finding, again, drift, body, origin: { row, outcomes } };
}

type RecordedFor = { readonly row?: number | null | undefined } & Pick<LookupOptions, "history">;

/** Whether nothing can change this finding: neither a retry nor an earlier partial answer. */
function isFinal({ again, finding }: Attempt, { history }: LookupOptions): boolean {
  if (again !== null) return false;
  return (
    finding.status === "complete" ||
    !history?.attempts.some((earlier) => earlier.finding.status === "partial")
  );
}

/** Adds the earlier attempts to the finding's count. */
function summedUp(attempt: Attempt, { history }: LookupOptions): Attempt {
  if (history === undefined || history.attempts.length === 0) return attempt;
  const { finding } = attempt;
  const before = history.attempts.reduce((sum, { finding }) => sum + finding.attempts, 0);
  return { ...attempt, finding: { ...finding, attempts: before + finding.attempts } };
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
