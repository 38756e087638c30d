import type { LookupSettings } from "../options.js";
import {
  type Again,
  type Attempt,
  longestWaitMs,
  type Finding,
  firstAnswer,
  type JsonObject,
  type LookupAnswer,
  lookupEndpoints,
} from "../../../core/finding.js";
import { memberTexts, objectText } from "../../../core/json-members.js";
import type { Item } from "../../../core/item/item.js";
import type { AttemptLookup, Lookup, LookupOptions } from "../types.js";
import { abortableSleep } from "../../../core/abort.js";
import type { Clock } from "../../../core/clock.js";
import { ServiceError } from "../../api/status-fault.js";
import type { CallPolicy } from "../../api/types.js";
import { reportTo, type RequestPace } from "../../pace/pace.js";

/**
 * Retries where another attempt may help and combines all attempts into one finding, whose `attempts`
 * counts them all.
 *
 * A full answer is final. Partial answers are merged and kept whatever follows: a later reset, refusal
 * or 400 doesn't invalidate data received before.
 */
export function retry(options: RetryOptions): (next: AttemptLookup) => Lookup {
  const sleep = abortableSleep(options.clock);
  return (next) => {
    /** @param attempts earlier attempts, at least one; further attempts are appended */
    const askAgain = async (
      item: Item,
      lookupOptions: LookupOptions,
      attempts: Attempt[],
    ): Promise<Finding> => {
      const plan = retryPlan(options);
      const waitAfter = ({ again, finding }: Attempt): number | null =>
        again && plan(again, finding.error?.code);
      let wait: number | null = null;
      for (const attempt of attempts) wait = waitAfter(attempt);
      while (wait !== null) {
        await sleep(wait, lookupOptions.signal);
        const attempt = await next(item, lookupOptions);
        attempts.push(attempt);
        wait = waitAfter(attempt);
      }
      return conclude(attempts, lookupOptions);
    };
    return (item, lookupOptions) => {
      const attempts = lookupOptions.history?.attempts ?? [];
      if (attempts.length > 0) return askAgain(item, lookupOptions, attempts);
      return next(item, lookupOptions).then((attempt) => {
        if (attempt.again === null) return conclude([attempt], lookupOptions);
        attempts.push(attempt);
        return askAgain(item, lookupOptions, attempts);
      });
    };
  };
}

function conclude(attempts: readonly Attempt[], { history }: LookupOptions): Finding {
  const last = attempts.at(-1) as Attempt;
  if (attempts.length === 1) {
    if (history !== undefined) history.drift = last.drift;
    return last.finding;
  }
  const partials = attempts.filter(({ finding }) => finding.status === "partial");
  const [first, ...others] = last.finding.status === "complete" ? [] : partials;
  if (history !== undefined) history.drift = (partials.at(-1) ?? last).drift;
  const finding =
    first === undefined
      ? last.finding
      : mergePartials([first.finding, ...others.map(({ finding }) => finding)]);
  return { ...finding, attempts: attempts.reduce((sum, { finding }) => sum + finding.attempts, 0) };
}

/**
 * Merges the partial answers to one lookup. Starts from the most complete one (the latest of several)
 * and fills its gaps from the others, latest first. `missing` lists what none of them had.
 *
 * The result stays `partial` even without gaps, since no single answer confirms all of it.
 *
 * @param partials in order of arrival
 */
function mergePartials(partials: readonly [Finding, ...Finding[]]): Finding {
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

export interface RetryOptions extends Pick<LookupSettings, "retries" | "partialRetries"> {
  /** Whether the service has ever answered. @default it has */
  readonly answered?: () => boolean;
  readonly clock: Clock;
  /** Random numbers from 0 (inclusive) to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** Maximum number of retries while the host name has never been resolved: most likely it is wrong. */
const unresolvedRetries = 2;

/**
 * Decides whether and when to retry, over all attempts of one lookup or call.
 *
 * @returns milliseconds until the next attempt, by what the last one asks for and its error code; null
 *   if there is none
 */
export function retryPlan(options: RetryOptions): (again: Again, code?: string) => number | null {
  const { retries, partialRetries, answered, random = Math.random } = options;
  const used = { partial: 0, once: 0, fault: 0 };
  return ({ policy, afterMs }, code) => {
    const isUnresolved = code === "dns_failure" && answered?.() === false;
    const kind = policy === "partial" || policy === "once" ? policy : "fault";
    const faults = isUnresolved ? Math.min(retries, unresolvedRetries) : retries;
    if (used[kind] >= { partial: partialRetries, once: 1, fault: faults }[kind]) return null;
    return Math.min(afterMs ?? 0, longestWaitMs) + random() * backoffMs(kind, used[kind]++);
  };
}

/**
 * Bounds of the random wait before an attempt, in milliseconds. Missing parts come back soon, or not
 * soon enough to wait for.
 */
const backoff = {
  partial: { firstMs: 250, mostMs: 2_000 },
  once: { firstMs: 500, mostMs: 30_000 },
  fault: { firstMs: 500, mostMs: 30_000 },
};

/**
 * Full jitter over a span that doubles with each retry (AWS Architecture Blog, Exponential Backoff
 * And Jitter), so that requests that failed together don't retry together.
 *
 * @param before number of earlier retries
 */
function backoffMs(kind: keyof typeof backoff, before: number): number {
  const { firstMs, mostMs } = backoff[kind];
  return Math.min(mostMs, firstMs * 2 ** Math.min(before, 20));
}

interface CallPolicyOptions extends Omit<RetryOptions, "partialRetries"> {
  readonly pace: RequestPace;
}

/**
 * Makes calls other than lookups (tags, customers, cases): paces each attempt and retries as `retry`
 * does for lookups.
 */
export function retryCalls({ pace, ...options }: CallPolicyOptions): CallPolicy {
  const sleep = abortableSleep(options.clock);
  return async (attempt, { signal }) => {
    const plan = retryPlan({ ...options, partialRetries: 0 });
    for (;;) {
      const ticket = await pace.take(signal);
      try {
        const answer = await attempt();
        pace.succeeded(ticket);
        return answer;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.again === null) throw error;
        reportTo(pace, ticket, error);
        const wait = plan(error.again, error.code);
        if (wait === null) throw error;
        await sleep(wait, signal);
      }
    }
  };
}
