import type { LookupSettings } from "../options.js";
import {
  type Again,
  type Attempt,
  longestWaitMs,
  type Finding,
  firstAnswer,
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
      const waitAfter = ({ again, finding }: Attempt) => plan(again, finding.error?.code);
      let wait: number | null = null;
      for (const attempt of attempts) wait = waitAfter(attempt);
      while (wait !== null) {
        await sleep(wait, lookupOptions.signal);
        const attempt = await next(item, lookupOptions);
        attempts.push(attempt);
        wait = waitAfter(attempt);
      }
      return conclude(attempts).finding;
    };
    return (item, lookupOptions) => {
      const attempts = lookupOptions.history?.attempts ?? [];
      if (attempts.length > 0) return askAgain(item, lookupOptions, attempts);
      return next(item, lookupOptions).then((attempt) => {
        if (attempt.again === null) return attempt.finding;
        attempts.push(attempt);
        return askAgain(item, lookupOptions, attempts);
      });
    };
  };
}

/**
 * What the attempts at a lookup come to; with a body if that is the last answer.
 *
 * @param attempts at least one; only the last may be final
 */
export function conclude(
  attempts: readonly Attempt[],
): Pick<Attempt, "finding" | "drift" | "body"> {
  const last = attempts.at(-1)!;
  if (attempts.length === 1) return last;
  const count = attempts.reduce((sum, { finding }) => sum + finding.attempts, 0);
  const partials = attempts.filter(({ finding }) => finding.status === "partial").toReversed();
  if (last.finding.status === "complete" || partials.length === 0) {
    return { ...last, finding: { ...last.finding, attempts: count } };
  }
  const merged = mergePartials(partials.map(({ finding }) => finding));
  return { finding: { ...merged, attempts: count }, drift: partials[0]!.drift };
}

/**
 * Merges the partial answers to one lookup. Starts from the most complete one (the latest of several)
 * and fills its gaps from the others, latest first. `missing` lists what none of them had.
 *
 * The result stays `partial` even without gaps, since no single answer confirms all of it.
 *
 * @param latestFirst at least one
 */
function mergePartials(latestFirst: readonly Finding[]): Finding {
  const best = latestFirst.reduce((a, b) => (b.missing.length < a.missing.length ? b : a));
  const endpoint = lookupEndpoints.find((name) => best.answers[name] !== undefined)!;
  const { result, text, ...more } = best.answers[endpoint]!;
  const filled: Record<string, unknown> = { ...result };
  const texts = new Map<string, string>();
  const missing = best.missing.filter((member) => {
    const other = latestFirst.find((each) => hasMember(each, member, result["type"]));
    if (other === undefined) return true;
    const answer = firstAnswer(other)!;
    for (const name of namesOf(member)) {
      const value = answer.result[name] ?? null;
      if (value === null) continue;
      filled[name] = value;
      texts.set(name, memberTexts(answer.text ?? "{}").get(name) ?? "null");
    }
    return false;
  });
  const isAsReceived = text === undefined || texts.size === 0;
  const newText = isAsReceived ? text : objectText(new Map([...memberTexts(text), ...texts]));
  return { ...best, missing, answers: { [endpoint]: { ...more, result: filled, text: newText } } };
}

/** Answers of another type describe something else. */
function hasMember(finding: Finding, member: string, type: unknown): boolean {
  return !finding.missing.includes(member) && firstAnswer(finding)?.result["type"] === type;
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
export function retryPlan(options: RetryOptions) {
  const { retries, partialRetries, answered, random = Math.random } = options;
  const used = { partial: 0, once: 0, fault: 0 };
  return (again: Again | null, code?: string): number | null => {
    if (again === null) return null;
    const { policy, afterMs } = again;
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
