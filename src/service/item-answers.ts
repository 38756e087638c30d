import { endpoints } from "../core/endpoints/endpoints.js";
import type { QueryResult } from "../core/endpoints/query.js";
import type { LookupEndpoint } from "../core/finding.js";
import { intents } from "../core/endpoints/endpoint.js";
import type { Item } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import {
  type Dataset,
  type KnownAnswer,
  type RefusedAnswer,
  withMissing,
} from "./dataset/dataset.js";
import { quoted } from "../core/wording/printable.js";
import { notListed, unknownAddress } from "./derived-results.js";
import type { ServiceSettings } from "./options.js";
import { failure, partialSuccess, type RouteAnswer, success } from "./served-answer.js";
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
  unlisted: (item: Item) => KnownAnswer = answerNotListed,
): (endpoint: LookupEndpoint, text: string) => RouteAnswer {
  const toJson = writer(blocklistField);
  const scripted = scripts();
  const factsOf = (text: string): KnownAnswer | RefusedAnswer => {
    const direct = items.get(text);
    if (direct) return direct;
    const { item, reason } = recognised(text);
    if (item === null) return { refuse: `cannot look up ${quoted(text)}: ${reason.message}` };
    return items.get(item.value) ?? unlisted(item);
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
        return success(toJson(facts.answers[endpoint] ?? endpoints[endpoint].answerFrom(result)));
      },
      partial: hasPartial ? (dice) => without(someMembers(result, dice)) : null,
    };
  };
}

export function answerNotListed(item: Item): KnownAnswer {
  return { result: notListed(item), answers: {}, partial: null };
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
    if (facts.partial === null) return undefined;
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
