import { camelCase, endpoints } from "../core/endpoints/endpoints.js";
import {
  type DomainResult,
  type IpResult,
  type QueryResult,
  results,
} from "../core/endpoints/query.js";
import { isBogon } from "../core/item/ip.js";
import { z } from "zod";
import type { LookupEndpoint } from "../core/finding.js";
import { intents } from "../core/endpoints/endpoint.js";
import type { Item } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import type { Dataset, DatasetRecord, KnownAnswer } from "./dataset.js";
import { quoted } from "../core/wording/printable.js";
import type { ServiceSettings } from "./options.js";
import { failure, partialSuccess, type RouteAnswer, success } from "./responder.js";
import type { TagLists } from "./snapshots.js";

/**
 * Creates a lookup of answers by any text in a path.
 *
 * @param lists decide which tags an address bears
 * @param unlisted answers for items that are not in the dataset
 */
export function answersFrom(
  { items }: Dataset,
  lists: TagLists,
  blocklistField: ServiceSettings["blocklistField"],
  unlisted: (item: Item) => KnownAnswer = (item) => ({ result: notListed(item) }),
): (endpoint: LookupEndpoint, text: string) => RouteAnswer {
  const toJson = writer(blocklistField);
  const scripted = scripts();
  const factsOf = (text: string): DatasetRecord<"items"> => {
    const direct = items.get(text);
    if (direct) return direct;
    const { item, reason } = recognised(text);
    if (item !== null) return items.get(item.value) ?? unlisted(item);
    return { item: text, refuse: `cannot look up ${quoted(text)}: ${reason.message}` };
  };
  return (endpoint, text) => {
    const facts = factsOf(text);
    if ("refuse" in facts) return { full: () => failure(facts.refuse), partial: null };
    const result = withTagsOfLists(facts.result, lists);
    const without = (missing: readonly string[]) =>
      partialSuccess(toJson(withMissing(result, missing)));
    const hasPartial = endpoints[endpoint].partial !== null && result.type !== "IP_BOGON";
    return {
      full: () => {
        const missing = hasPartial ? scripted(facts) : undefined;
        if (missing) return without(missing);
        return success(
          toJson(facts[camelCase(endpoint)] ?? endpoints[endpoint].answerFrom(result)),
        );
      },
      partial: hasPartial ? (dice) => without(someMembers(result, dice)) : null,
    };
  };
}

/** A partial result: missing members become null. */
function withMissing(result: QueryResult, missing: readonly string[]): object {
  return { ...result, ...Object.fromEntries(missing.map((member) => [member, null])) };
}

function writer(blocklistField: ServiceSettings["blocklistField"]): (result: object) => string {
  if (blocklistField === "serviceMailBlocklist") return JSON.stringify;
  return (result) => {
    const named = Object.entries(result).map(([member, value]) => [
      member === "serviceMailBlocklist" ? blocklistField : member,
      value,
    ]);
    return JSON.stringify(Object.fromEntries(named));
  };
}

/** Detection takes names such as `install.sh` for files. In a request they can only be domains. */
function recognised(text: string) {
  const detected = recogniseItem(text);
  if (detected.item !== null) return detected;
  const domain = recogniseItem(text, "domain");
  return domain.item === null ? detected : domain;
}

/** The members missing from the next answer, by an item's script; undefined for a full one. */
function scripts(): (facts: KnownAnswer) => readonly string[] | undefined {
  const asked = new WeakMap<KnownAnswer, number>();
  return (facts) => {
    if (facts.partial === undefined) return undefined;
    const { missing, forever } = facts.partial;
    const before = asked.get(facts) ?? 0;
    asked.set(facts, before + 1);
    return missing[before % (forever ? missing.length : missing.length + 1)];
  };
}

/** Picks members that may be null, with two bits of the dice each; at least one. */
function someMembers(result: QueryResult, dice: number): string[] {
  const members = Object.keys(result).filter((name) => name !== "item" && name !== "type");
  const missing = members.filter((_, index) => ((dice >>> (2 * (index % 15))) & 3) === 0);
  return missing.length > 0 ? missing : members.slice(dice % members.length).slice(0, 1);
}

/**
 * Gives an address's result the tags whose lists hold it. An address in a reserved range is a bogon
 * only while no list holds it. The intent is at least as grave as that of each tag that the result
 * did not have before.
 */
function withTagsOfLists(result: QueryResult, lists: TagLists): QueryResult {
  if (result.type !== "IP" && result.type !== "IP_BOGON") return result;
  const borne = lists.tagsOf(result.item);
  if (result.type === "IP_BOGON") {
    return borne.length === 0 ? result : withTagsOfLists(unknownAddress(result.item), lists);
  }
  const names = new Set(borne.map(({ name }) => name));
  const own = result.tags.filter((name) => names.has(name));
  const added = borne.filter(({ name }) => !own.includes(name));
  const accusations = new Set([result.intent, ...added.map(({ intent }) => intent)]);
  return {
    ...result,
    tags: [...own, ...added.map(({ name }) => name)],
    intent: intents.find((intent) => accusations.has(intent)) ?? result.intent,
  };
}

export function notListed({ kind, value: item }: Item): QueryResult {
  if (kind === "ip") {
    return isBogon(item) ? { item, type: "IP_BOGON", bogon: true } : unknownAddress(item);
  }
  if (kind === "domain") return unknownDomain(item);
  return { item, ...blank, type: kind.toUpperCase() as Uppercase<typeof kind> };
}

function unknownDomain(item: string): DomainResult {
  return { ...nullable.domain, item, ...blank, type: "DOMAIN", ...seen };
}

export function unknownAddress(item: string): IpResult {
  const interactions = { firstSeen: null, lastSeen: null, observations: [] };
  return {
    ...nullable.address,
    item,
    ...blank,
    type: "IP",
    bogon: false,
    ...seen,
    reverseDns: { current: null },
    abuseContact: { email: null, status: "UNKNOWN", lastVerification: null },
    asn: { countryCode: null, asn: null, name: null },
    observedActivity: { honeypotInteractions: interactions, spamtrapInteractions: interactions },
  };
}

type Nulls<Shape extends Readonly<Record<string, z.ZodType>>> = {
  [Member in keyof Shape as null extends z.output<Shape[Member]> ? Member : never]: null;
};

/** The members of a result that may be null, as null. */
function nulls<Shape extends Readonly<Record<string, z.ZodType>>>({
  shape,
}: z.ZodObject<Shape, z.core.$loose>): Nulls<Shape> {
  const names = Object.keys(shape).filter((name) => shape[name] instanceof z.ZodNullable);
  return Object.fromEntries(names.map((name) => [name, null])) as Nulls<Shape>;
}

const nullable = { domain: nulls(results.DOMAIN), address: nulls(results.IP) };
const blank = { serviceMailBlocklist: "NOT_LISTED" } as const;
const seen = { tags: [], firstSeen: null, lastSeen: null, intent: "none" };
