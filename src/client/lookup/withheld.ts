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

/** What a session answers itself instead of sending it, and parts that it cuts off. */
export type Withheld = Awaited<ReturnType<typeof openWithheld>>;

/**
 * Reads the lists that the settings name.
 *
 * @throws UsageError `exclusions_unreadable`, `exclusion_invalid`
 */
export async function openWithheld({
  bogons = "local",
  exclude = [],
  urlQuery = "keep",
}: WithheldChoice) {
  const lists = exclude.length === 0 ? [] : await readLists(exclude);

  /** The part of an item that is sent. */
  const asSent = (item: Item): Item => {
    if (urlQuery === "keep" || item.kind !== "url") return item;
    const end = item.value.search(/[?#]/);
    return end < 0 ? item : { kind: "url", value: item.value.slice(0, end) };
  };

  /** The first list that names an item, whole or as it is sent. */
  const listOf = (item: Item): ExclusionList | null => {
    if (lists.length === 0) return null;
    const sent = asSent(item);
    return lists.find((list) => list.has(item) || (sent !== item && list.has(sent))) ?? null;
  };

  /** The finding of an item that is not sent; null for any other. */
  const answer = (item: Item): Finding | null => {
    const list = listOf(item);
    if (list !== null) {
      return unasked("unsupported", { code: "excluded", message: excludedMessage(list.path) });
    }
    return bogons === "local" && isReserved(item) ? bogonFinding(item) : null;
  };

  /** Answers withheld items without a lookup. */
  const wrap: LookupWrapper = (next) => (item, options) => {
    const finding = answer(item);
    return finding === null ? next(asSent(item), options) : Promise.resolve(finding);
  };
  const isListed = (item: Item): boolean => listOf(item) !== null;
  return { lists, bogons, asSent, listOf, isListed, answer, wrap };
}

async function readLists(paths: readonly string[]): Promise<readonly ExclusionList[]> {
  const { readExclusions } = await import("../../core/exclusions/read-exclusions.js");
  return readExclusions(paths);
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
