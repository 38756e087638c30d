import fc from "fast-check";
import { judge } from "../../src/client/api/judge.js";
import type { Finding, LookupEndpoint } from "../../src/core/finding.js";
import type { Item } from "../../src/core/item/item.js";
import { allLookups, triage } from "../../src/client/lookup/combine.js";
import type { Lookup } from "../../src/client/lookup/types.js";
import {
  answer,
  failure,
  ipResult,
  judgeContext,
  partialSuccess,
  success,
} from "../client/api/answers.js";

/** What the service says about an item that night; null for what it lacks. */
interface Said {
  readonly how: "full" | "partial" | "rejected" | "failed";
  readonly intent: string | null;
  readonly blocklist: string | null;
  readonly tags: readonly string[] | null;
  readonly asn: string | null;
  readonly email: string | null;
}

/** The lookups of a night, and what each would say about each item. */
export interface Night {
  readonly lookups: "query" | "quick-check" | "both" | "triage";
  readonly form: "csv" | "tsv" | "nested" | "flat";
  readonly rows: Readonly<Record<string, Readonly<Record<LookupEndpoint, Said>>>>;
}

const items: readonly Item[] = [
  { kind: "ip", value: "192.0.2.1" },
  { kind: "ip", value: "192.0.2.2" },
  { kind: "ip", value: "192.0.2.3" },
  { kind: "email", value: "+a@example.com" },
  { kind: "email", value: "'=b@example.com" },
];

export const itemOf = (text: string): Item => items.find(({ value }) => value === text)!;

const said: fc.Arbitrary<Said> = fc.record({
  how: fc.constantFrom("full", "full", "partial", "partial", "rejected", "failed"),
  intent: fc.constantFrom("malicious", "suspicious", "unknown", "none", "none", null),
  blocklist: fc.constantFrom("ACTIVE", "PASSIVE", "NOT_LISTED", "NOT_LISTED", null),
  tags: fc.constantFrom(["a:b"], ["=a:b", "c:d"], ["'=a:b"], ["=b|a"], [], null),
  asn: fc.constantFrom("AS64496", "-AS64496", "'-AS64496", null),
  email: fc.constantFrom("a@example.net", "+a@example.net", null),
});

const row = fc.record({ query: said, "quick-check": said });

export const nights: fc.Arbitrary<Night> = fc.record({
  lookups: fc.constantFrom("query", "quick-check", "both", "both", "triage"),
  form: fc.constantFrom("csv", "tsv", "nested", "flat"),
  rows: fc.dictionary(fc.constantFrom(...items.map(({ value }) => value)), row),
});

/**
 * Two nights with the same lookups and truth about the items, of which each lacks what its outages
 * take away.
 */
export const outages: fc.Arbitrary<readonly [Night, Night]> = fc
  .tuple(nights, fc.array(row, { minLength: 2 * items.length, maxLength: 2 * items.length }))
  .map(([night, faults]) => {
    const suffer = (offset: number): Night => {
      const rows = Object.entries(night.rows).map(([item, truth], at) => {
        const fault = faults[offset + at]!;
        const query = withFault(truth.query, fault.query);
        const quickCheck = { ...truth["quick-check"], how: fault["quick-check"].how };
        return [item, { query, "quick-check": quickCheck }];
      });
      return { ...night, rows: Object.fromEntries(rows) };
    };
    return [suffer(0), suffer(items.length)];
  });

/** A partial answer lacks what the fault lacks; any other has all of the truth. */
function withFault(truth: Said, { how, ...members }: Said): Said {
  if (how !== "partial") return { ...known(truth), how };
  const lacks = Object.entries(members).filter(([, value]) => value === null);
  return { ...known(truth), ...Object.fromEntries(lacks), how };
}

function known({ how, intent, blocklist, tags, asn, email }: Said): Said {
  return {
    how,
    intent: intent ?? "none",
    blocklist: blocklist ?? "NOT_LISTED",
    tags: tags ?? [],
    asn: asn ?? "AS64496",
    email: email ?? "a@example.net",
  };
}

/** Looks the item up in this night's answers, as a run would. */
export function findingOf({ lookups, rows }: Night, item: Item): Promise<Finding> {
  const asks =
    (endpoint: LookupEndpoint): Lookup =>
    () =>
      Promise.resolve(judged(endpoint, item, rows[item.value]![endpoint]));
  const [query, quickCheck] = [asks("query"), asks("quick-check")];
  const options = { signal: new AbortController().signal };
  if (lookups === "triage") return triage(query, quickCheck)(item, options);
  const both = [
    ["query", query],
    ["quick-check", quickCheck],
  ] as const;
  return allLookups(both.filter(([name]) => lookups === "both" || lookups === name))(item, options);
}

function judged(endpoint: LookupEndpoint, item: Item, what: Said): Finding {
  const { how } = what;
  // The quick check has no answers in part.
  const isPartial = how === "partial" && endpoint === "query";
  const result =
    endpoint === "query" ? queryResult(item, what, isPartial) : quickResult(item, what);
  const given = {
    failed: answer(500, {}),
    rejected: answer(400, failure("no such item")),
    partial: isPartial ? answer(503, partialSuccess(result)) : answer(200, success(result)),
    full: answer(200, success(result)),
  };
  return judge({ endpoint, item }, given[how], judgeContext()).finding;
}

function quickResult({ kind, value }: Item, { intent, blocklist }: Said): object {
  const said = { serviceMailBlocklist: blocklist, intent, bogon: false, activity: false };
  return { item: value, type: kind.toUpperCase(), ...said };
}

function queryResult({ kind, value }: Item, what: Said, isPartial: boolean): object {
  const { intent, blocklist: serviceMailBlocklist, tags, asn, email } = what;
  if (kind === "email") return { item: value, serviceMailBlocklist, type: "EMAIL" };
  const own = ipResult();
  const orNull = <Value>(isThere: boolean, member: Value): Value | null =>
    isPartial && !isThere ? null : member;
  return {
    ...own,
    item: value,
    serviceMailBlocklist,
    intent,
    tags: orNull(tags !== null, tags ?? []),
    asn: orNull(asn !== null, { ...own.asn, asn }),
    abuseContact: orNull(email !== null, { ...own.abuseContact, email }),
  };
}
