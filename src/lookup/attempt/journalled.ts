import type { Attempt, LookupRecord } from "../../core/attempt.js";
import {
  type Finding,
  firstAnswer,
  type JsonObject,
  type LookupAnswer,
  type LookupEndpoint,
  lookupEndpoints,
} from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { LookupStore } from "../../store/store.js";
import type { AttemptWrapper, LookupOptions } from "../types.js";
import { memberTexts, objectText } from "../../core/json-members.js";
import { attemptKey, itemKey } from "../lookup-key.js";

export interface JournalledOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: LookupStore;
}

/**
 * Journals each answer before its slot is released, so a kill loses at most the requests that were
 * open. An answer that is going to be retried gets a key of its own: a resumed run continues with the
 * remaining attempts.
 */
export function journalled({ endpoint, store }: JournalledOptions): AttemptWrapper {
  const put = (item: Item, attempt: Attempt, options: LookupOptions): Promise<void> | null => {
    const { history } = options;
    history?.outcomes.push(attempt.outcome);
    if (isFinal(attempt, options)) {
      if (history !== undefined) history.journalled = true;
      return store.put(itemKey(endpoint, item), recordOf(summedUp(attempt, options), options));
    }
    // A final failure is stored with the whole lookup, by dedupe.
    if (attempt.again === null) return null;
    const key = attemptKey(endpoint, item, (history?.attempts.length ?? 0) + 1);
    return store.put(key, recordOf({ ...attempt, drift: [] }, options));
  };
  return (next) => async (item, options) => {
    const attempt = await next(item, options);
    await put(item, attempt, options);
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
  return finding.status === "complete" || !history?.attempts.some(isPartial);
}

function isPartial({ finding }: Attempt): boolean {
  return finding.status === "partial";
}

/** Adds the earlier attempts to the finding's count. */
function summedUp(attempt: Attempt, { history }: LookupOptions): Attempt {
  if (history === undefined || history.attempts.length === 0) return attempt;
  const { finding } = attempt;
  const before = history.attempts.reduce((sum, { finding }) => sum + finding.attempts, 0);
  return { ...attempt, finding: { ...finding, attempts: before + finding.attempts } };
}

/**
 * Merges the partial answers to one lookup. Starts from the most complete one (the latest of several)
 * and fills its gaps from the others, latest first. `missing` lists what none of them had.
 *
 * The result stays `partial` even without gaps, since no single answer confirms all of it.
 *
 * @param partials in order of arrival
 */
export function mergePartials(partials: readonly [Finding, ...Finding[]]): Finding {
  if (partials.length === 1) return partials[0];
  const latestFirst = partials.toReversed();
  const best = latestFirst.reduce((a, b) => (b.missing.length < a.missing.length ? b : a));
  const others = latestFirst.filter((each) => each !== best);
  const filled = { ...resultOf(best) };
  const sources = new Map<string, Finding>();
  const missing = best.missing.filter((member) => {
    const other = others.find((each) => answers(each, member, filled["type"]));
    if (other === undefined) return true;
    for (const name of namesOf(member)) {
      const value = resultOf(other)[name] ?? null;
      if (value === null) continue;
      filled[name] = value;
      sources.set(name, other);
    }
    return false;
  });
  const endpoint = lookupEndpoints.find((name) => best.answers[name] !== undefined);
  if (endpoint === undefined) return best;
  const answer: LookupAnswer = {
    ...best.answers[endpoint],
    result: filled,
    text: textWith(best, sources),
  };
  return { ...best, missing, answers: { [endpoint]: answer } };
}

/** Ignores answers of another type: they describe something else. */
function answers(finding: Finding, member: string, type: unknown): boolean {
  return !finding.missing.includes(member) && resultOf(finding)["type"] === type;
}

function resultOf(finding: Finding): JsonObject {
  return firstAnswer(finding)?.result ?? {};
}

function textOf(finding: Finding): string | undefined {
  return firstAnswer(finding)?.text;
}

/** The text of a result with some members copied from the texts of other results. */
function textWith(best: Finding, sources: ReadonlyMap<string, Finding>): string | undefined {
  const text = textOf(best);
  if (text === undefined || sources.size === 0) return text;
  const members = memberTexts(text);
  for (const [name, source] of sources) {
    members.set(name, memberTexts(textOf(source) ?? "{}").get(name) ?? "null");
  }
  return objectText(members);
}

/** The names that a service may use for a member. */
function namesOf(member: string): readonly string[] {
  return member === "serviceMailBlocklist" ? [member, "abusixMailBlocklist"] : [member];
}
