import type { QueryResult } from "../api/schema/query-result.js";
import type { LookupEndpoint } from "../core/finding.js";
import type { Item, Recognition } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import { failure, partialSuccess, success, type ServedAnswer } from "./served-answer.js";
import { withMissing } from "./dataset/records.js";
import type { Dataset } from "./dataset/dataset.js";
import type { ListedItem } from "./dataset/dataset.js";
import { notListed, unknownAddress } from "./not-listed.js";
import type { BlocklistField } from "./options.js";
import { quickCheckOf } from "./quick-check.js";
import type { TagLists } from "./snapshots.js";
import { intents } from "../api/schema/vocabulary.js";

/** The answers of the service for one item. */
export interface ItemAnswer {
  /** True if the API specifies a partial result for its type. */
  readonly canBePartial: boolean;
  full(endpoint: LookupEndpoint): ServedAnswer;
  /** The answer to a query with some members missing, chosen by `dice`. */
  partial(dice: number): ServedAnswer;
}

/**
 * Creates a lookup of answers by any text in a path.
 *
 * @param lists decide which tags an address bears
 * @param unlisted answers for items that are not in the dataset
 */
export function itemAnswers(
  dataset: Dataset,
  lists: TagLists,
  blocklistField: BlocklistField,
  unlisted: (item: Item) => Omit<ListedItem, "item"> = answerNotListed,
): (text: string) => ItemAnswer {
  const toJson = writer(blocklistField);
  const answered = (entry: Omit<ListedItem, "item">) =>
    new ResultAnswer(entry, (result) => withTagsOfLists(result, lists), toJson);
  const known = new Map<string, ItemAnswer>();
  for (const [value, entry] of dataset.items) {
    const answer = "refuse" in entry ? refusal(entry.refuse) : answered(entry);
    known.set(value, answer);
  }
  return (text) => {
    const direct = known.get(text);
    if (direct) return direct;
    const { item, reason } = recognised(text);
    if (item === null) return refusal(noItem(text, reason.message));
    return known.get(item.value) ?? answered(unlisted(item));
  };
}

export function answerNotListed(item: Item): Omit<ListedItem, "item"> {
  return { result: notListed(item), answers: {}, partial: null };
}

type ToJson = (result: object) => string;

function writer(blocklistField: BlocklistField): ToJson {
  if (blocklistField === "serviceMailBlocklist") return JSON.stringify;
  return (result) =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(result).map(([member, value]) => [
          member === "serviceMailBlocklist" ? blocklistField : member,
          value,
        ]),
      ),
    );
}

/** Detection takes names such as `install.sh` for files. In a request they can only be domains. */
function recognised(text: string): Recognition {
  const detected = recogniseItem(text);
  if (detected.item !== null) return detected;
  const domain = recogniseItem(text, "domain");
  return domain.item === null ? detected : domain;
}

function noItem(text: string, reason: string): string {
  if (text.trim() === "") return "cannot look up an empty item";
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return `cannot look up ${JSON.stringify(shown)}: ${reason}`;
}

function refusal(message: string): ItemAnswer {
  const answer = failure(message);
  const say = () => answer;
  return { canBePartial: false, full: say, partial: say };
}

/** Answers from a result. Follows the item's partial script, if it has one. */
class ResultAnswer implements ItemAnswer {
  readonly #listed: Omit<ListedItem, "item">;
  readonly #tagged: (result: QueryResult) => QueryResult;
  readonly #toJson: ToJson;
  #asked = 0;

  /** @param tagged gives a result the tags that its item bears now */
  constructor(
    listed: Omit<ListedItem, "item">,
    tagged: (result: QueryResult) => QueryResult,
    toJson: ToJson,
  ) {
    this.#listed = listed;
    this.#tagged = tagged;
    this.#toJson = toJson;
  }

  get canBePartial(): boolean {
    return this.#result.type !== "IP_BOGON";
  }

  full(endpoint: LookupEndpoint): ServedAnswer {
    const result = this.#result;
    const { answers } = this.#listed;
    const missing = endpoint === "query" ? this.#scripted() : undefined;
    if (missing) return this.#without(missing);
    return success(this.#toJson(answers[endpoint] ?? derived[endpoint](result)));
  }

  partial(dice: number): ServedAnswer {
    return this.#without(someMembers(this.#result, dice));
  }

  get #result(): QueryResult {
    return this.#tagged(this.#listed.result);
  }

  /** Members missing from the next answer by the script; undefined for a full answer. */
  #scripted(): readonly string[] | undefined {
    const { missing = [], forever = false } = this.#listed.partial ?? {};
    if (forever && this.#asked === missing.length) this.#asked = 0;
    const scripted = missing[this.#asked];
    this.#asked = scripted ? this.#asked + 1 : 0;
    return scripted;
  }

  #without(missing: readonly string[]): ServedAnswer {
    return partialSuccess(this.#toJson(withMissing(this.#result, missing)));
  }
}

/** The answer of each endpoint, derived from the query result. */
const derived: Readonly<Record<LookupEndpoint, (result: QueryResult) => object>> = {
  query: (result) => result,
  "quick-check": quickCheckOf,
};

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
