import type { Again, Attempt, Finding, JsonObject } from "../../../src/core/finding.js";
import type { Item } from "../../../src/core/item/item.js";
import type { LookupOptions } from "../../../src/client/lookup/types.js";
import { completeFinding } from "../../helpers/complete-finding.mjs";

export const item: Item = { kind: "ip", value: "192.0.2.1" };

export const otherItem: Item = { kind: "domain", value: "example.com" };

/** A full answer of `/query`. */
export function complete(result: JsonObject = {}, text?: string): Finding {
  return {
    ...completeFinding,
    answers: { query: { result: { item: "192.0.2.1", type: "IP", ...result }, text } },
    lookedUpAt: "2024-01-01T00:00:00.000Z",
  };
}

/** A full answer of `/quick-check`. */
export function quick(result: JsonObject = { item: "192.0.2.1", activity: true }): Finding {
  return { ...complete(), answers: { "quick-check": { result } } };
}

/** A partial answer of `/query`. */
export function partial(result: JsonObject, missing: readonly string[], text?: string): Finding {
  return { ...complete(result, text), status: "partial", missing, httpStatus: 503 };
}

/** A finding without an answer. */
export function failed(code: string, httpStatus: number | null = null): Finding {
  return {
    ...complete(),
    status: "failed",
    answers: {},
    httpStatus,
    error: { code, message: `it failed with ${code}` },
  };
}

export function invalid(message = "no such item"): Finding {
  return {
    ...failed("invalid_item", 400),
    status: "invalid",
    error: { code: "invalid_item", message },
  };
}

/** The attempt that ended in a finding; final unless a policy is given. */
export function attempt(
  finding: Finding,
  policy: Again["policy"] | null = null,
  afterMs: number | null = null,
): Attempt {
  const { httpStatus, error } = finding;
  const outcome = httpStatus === null ? (error?.code ?? "") : String(httpStatus);
  return { finding, outcome, again: policy && { policy, afterMs }, drift: [] };
}

type Ask<Outcome> = (item: Item, options: LookupOptions) => Promise<Outcome>;

/** A lookup that returns the outcomes in turn, the last one forever, and records the items. */
export function scripted<Outcome>(
  ...outcomes: readonly Outcome[]
): Ask<Outcome> & { readonly asked: Item[] } {
  const asked: Item[] = [];
  const lookup: Ask<Outcome> = (each) => {
    const outcome = outcomes[Math.min(asked.length, outcomes.length - 1)];
    asked.push(each);
    return outcome ? Promise.resolve(outcome) : Promise.reject(new Error("nothing is scripted"));
  };
  return Object.assign(lookup, { asked });
}

/** A lookup whose calls stay open until answered by hand, in order. */
export function held<Outcome = Finding>(): Ask<Outcome> & { readonly open: Held<Outcome>[] } {
  const open: Held<Outcome>[] = [];
  const lookup: Ask<Outcome> = (each) =>
    new Promise((resolve, reject) => {
      open.push({ item: each, answer: resolve, fail: reject });
    });
  return Object.assign(lookup, { open });
}

export interface Held<Outcome> {
  readonly item: Item;
  readonly answer: (outcome: Outcome) => void;
  readonly fail: (error: unknown) => void;
}

/** Options with a signal that never aborts. */
export function unaborted(): { readonly signal: AbortSignal } {
  return { signal: new AbortController().signal };
}
