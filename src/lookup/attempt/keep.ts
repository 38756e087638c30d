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
import { attemptKey, itemKey } from "../cache.js";
import type { LookupStore } from "../../store/store.js";
import type { AttemptWrapper, LookupOptions } from "../types.js";
import { memberTexts } from "../../core/json-members.js";

export interface KeepOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: LookupStore;
}

/**
 * Journals each answer while its request's slot is still held. So a kill loses, and a resumed run
 * repeats, no more than what may be open at once. An answer that is asked for again is journalled
 * under a key of its own: a resumed run continues with the attempts that are left.
 */
export function keep({ endpoint, store }: KeepOptions): AttemptWrapper {
  const put = (item: Item, attempt: Attempt, options: LookupOptions): Promise<void> | null => {
    const { asked } = options;
    asked?.outcomes.push(attempt.outcome);
    if (isFinal(attempt, options)) {
      if (asked !== undefined) asked.journalled = true;
      return store.put(itemKey(endpoint, item), recordOf(summedUp(attempt, options), options));
    }
    // What ends the lookup is stored with the lookup.
    if (attempt.again === null) return null;
    const key = attemptKey(endpoint, item, (asked?.tried.length ?? 0) + 1);
    return store.put(key, recordOf({ ...attempt, drift: [] }, options));
  };
  return (next) => (item, options) =>
    next(item, options).then((attempt) => {
      const kept = put(item, attempt, options);
      return kept === null ? attempt : kept.then(() => attempt);
    });
}

/** A record with the row that asked and the requests that no earlier record has. */
export function recordOf(
  { finding, again, drift, body }: Omit<LookupRecord, "origin">,
  { row = null, asked }: RecordedFor,
): LookupRecord {
  const outcomes = asked?.outcomes ?? [];
  if (asked !== undefined) asked.outcomes = [];
  return { finding, again, drift, body, origin: { row, outcomes } };
}

type RecordedFor = { readonly row?: number | null | undefined } & Pick<LookupOptions, "asked">;

/** Whether no later attempt, and no partial answer of an earlier one, changes this finding. */
function isFinal({ again, finding }: Attempt, { asked }: LookupOptions): boolean {
  if (again !== null) return false;
  return finding.status === "complete" || !asked?.tried.some(isPartial);
}

function isPartial({ finding }: Attempt): boolean {
  return finding.status === "partial";
}

/** An attempt whose finding counts those before it. */
function summedUp(attempt: Attempt, { asked }: LookupOptions): Attempt {
  if (asked === undefined || asked.tried.length === 0) return attempt;
  const { finding } = attempt;
  const before = asked.tried.reduce((sum, { finding }) => sum + finding.attempts, 0);
  return { ...attempt, finding: { ...finding, attempts: before + finding.attempts } };
}

/**
 * Makes one finding of the partial answers to one lookup: the most complete one, the latest of
 * several, with the members that it lacks filled from the others, the latest first. `missing` is
 * what none of them had.
 *
 * It stays `partial` even when nothing is missing any more: no answer vouched for the whole.
 *
 * @param partials in the order in which they came
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

/** Answers of another type describe another thing; none of their members fits. */
function answers(finding: Finding, member: string, type: unknown): boolean {
  return !finding.missing.includes(member) && resultOf(finding)["type"] === type;
}

function resultOf(finding: Finding): JsonObject {
  return firstAnswer(finding)?.result ?? {};
}

function textOf(finding: Finding): string | undefined {
  return firstAnswer(finding)?.text;
}

/** The text of a result in which some members have the text that other results have for them. */
function textWith(best: Finding, sources: ReadonlyMap<string, Finding>): string | undefined {
  const text = textOf(best);
  if (text === undefined || sources.size === 0) return text;
  const members = memberTexts(text);
  for (const [name, source] of sources) {
    members.set(name, memberTexts(textOf(source) ?? "{}").get(name) ?? "null");
  }
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

/** The names under which a service may send a member. */
function namesOf(member: string): readonly string[] {
  return member === "serviceMailBlocklist" ? [member, "abusixMailBlocklist"] : [member];
}
