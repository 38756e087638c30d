import { type ExclusionList, excludedMessage } from "../../core/exclusions/exclusion-list.js";
import { type Finding, unasked } from "../../core/finding.js";
import { isBogon } from "../../core/item/ip.js";
import type { Item } from "../../core/item/item.js";
import type { LookupSettings } from "./options.js";
import type { LookupWrapper } from "./types.js";

type WithheldSettings = Pick<LookupSettings, "bogons" | "exclude" | "urlQuery">;

export type WithheldChoice = {
  readonly [Key in keyof WithheldSettings]?: WithheldSettings[Key] | undefined;
};

/** Items that a session answers itself instead of sending them, and parts that it cuts off. */
export class Withheld {
  readonly lists: readonly ExclusionList[];
  readonly bogons: "ask" | "local";
  readonly #urlQuery: WithheldSettings["urlQuery"];

  constructor({
    bogons,
    urlQuery,
    lists,
  }: Pick<Withheld, "bogons" | "lists"> & Pick<WithheldSettings, "urlQuery">) {
    this.bogons = bogons;
    this.#urlQuery = urlQuery;
    this.lists = lists;
  }

  /** The finding of an item that is not sent; null for any other. */
  answer(item: Item): Finding | null {
    const list = this.listOf(item);
    if (list !== null) {
      return unasked("unsupported", { code: "excluded", message: excludedMessage(list.path) });
    }
    return this.bogons === "local" && isReserved(item) ? bogonFinding(item) : null;
  }

  readonly isListed = (item: Item): boolean => this.listOf(item) !== null;

  /** The first list that names an item, whole or as it is sent. */
  listOf(item: Item): ExclusionList | null {
    if (this.lists.length === 0) return null;
    const sent = this.asSent(item);
    return this.lists.find((list) => list.has(item) || (sent !== item && list.has(sent))) ?? null;
  }

  /** The part of an item that is sent. */
  asSent(item: Item): Item {
    if (this.#urlQuery === "keep" || item.kind !== "url") return item;
    const end = item.value.search(/[?#]/);
    return end < 0 ? item : { kind: "url", value: item.value.slice(0, end) };
  }

  /** Answers withheld items without a lookup. */
  readonly wrap: LookupWrapper = (next) => (item, options) => {
    const finding = this.answer(item);
    return finding === null ? next(this.asSent(item), options) : Promise.resolve(finding);
  };
}

/**
 * Reads the lists that the settings name.
 *
 * @throws UsageError `exclusions_unreadable`, `exclusion_invalid`
 */
export async function openWithheld({
  bogons = "local",
  exclude = [],
  urlQuery = "keep",
}: WithheldChoice): Promise<Withheld> {
  if (exclude.length === 0) return new Withheld({ bogons, urlQuery, lists: [] });
  const { readExclusions } = await import("../../core/exclusions/read-exclusions.js");
  return new Withheld({ bogons, urlQuery, lists: await readExclusions(exclude) });
}

export function isReserved({ kind, value }: Item): boolean {
  return kind === "ip" && isBogon(value);
}

/** As the service would answer. */
function bogonFinding({ value }: Item): Finding {
  return {
    ...unasked("complete", null),
    answers: { query: { result: { item: value, type: "IP_BOGON", bogon: true } } },
  };
}
