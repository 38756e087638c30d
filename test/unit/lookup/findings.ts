import type { Again, Finding, JsonObject } from "../../../src/core/finding.js";
import type { Item } from "../../../src/core/item/item.js";
import type { Lookup } from "../../../src/lookup/types.js";

export const item: Item = { kind: "ip", value: "192.0.2.1" };

export const otherItem: Item = { kind: "domain", value: "example.com" };

/** A full answer of `/query`. */
export function complete(query: JsonObject = {}): Finding {
  return {
    status: "complete",
    query: { item: "192.0.2.1", type: "IP", ...query },
    quickCheck: null,
    missing: [],
    source: "live",
    httpStatus: 200,
    attempts: 1,
    lookedUpAt: "2024-01-01T00:00:00.000Z",
    error: null,
  };
}

/** A partial answer of `/query` as one attempt brings it. */
export function partial(query: JsonObject, missing: readonly string[]): Finding {
  return {
    ...complete(query),
    status: "partial",
    missing,
    httpStatus: 503,
    again: { policy: "partial", afterMs: null },
  };
}

/** An attempt that brought no answer; without a policy nothing can be done about it. */
export function failed(
  code: string,
  policy: Again["policy"] | null = null,
  afterMs: number | null = null,
  httpStatus: number | null = null,
): Finding {
  const finding: Finding = {
    ...complete(),
    status: "failed",
    query: null,
    httpStatus,
    error: { code, message: `it failed with ${code}` },
  };
  return policy === null ? finding : { ...finding, again: { policy, afterMs } };
}

export function invalid(message = "no such item"): Finding {
  return {
    ...failed("invalid_item", null, null, 400),
    status: "invalid",
    error: { code: "invalid_item", message },
  };
}

/** Answers with the findings in turn, the last one for ever, and keeps what was asked. */
export function scripted(...findings: readonly Finding[]): Lookup & { readonly asked: Item[] } {
  const asked: Item[] = [];
  const lookup: Lookup = (each) => {
    const finding = findings[Math.min(asked.length, findings.length - 1)];
    asked.push(each);
    return finding ? Promise.resolve(finding) : Promise.reject(new Error("no finding is scripted"));
  };
  return Object.assign(lookup, { asked });
}

/** Lookups that stay open until they are answered by hand, in the order in which they were asked. */
export function held(): Lookup & { readonly open: Held[] } {
  const open: Held[] = [];
  const lookup: Lookup = (each) =>
    new Promise((resolve, reject) => {
      open.push({ item: each, answer: resolve, fail: reject });
    });
  return Object.assign(lookup, { open });
}

export interface Held {
  readonly item: Item;
  readonly answer: (finding: Finding) => void;
  readonly fail: (error: unknown) => void;
}

/** Options of a lookup that nobody aborts. */
export function unaborted(): { readonly signal: AbortSignal } {
  return { signal: new AbortController().signal };
}
