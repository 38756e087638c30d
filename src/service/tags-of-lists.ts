import type { QueryResult } from "../api/schema/query-result.js";
import { intents } from "../api/schema/vocabulary.js";
import { unknownAddress } from "./not-listed.js";
import type { TagLists } from "./snapshots.js";

/**
 * Gives an address's result the tags whose lists hold it. An address in a reserved range is a bogon
 * only while no list holds it. The intent is at least as grave as that of each tag that the result
 * did not have before.
 */
export function withTagsOfLists(result: QueryResult, lists: TagLists): QueryResult {
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
