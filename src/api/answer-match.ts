import { domainToASCII } from "node:url";
import type { JsonObject } from "../core/finding.js";
import type { Item, ItemKind } from "../core/item/item.js";
import { readIp } from "../core/item/ip.js";
import { readSha1 } from "../core/item/detect.js";
import { driftOf } from "./schema/drift.js";
import { isKnownType, type ResultType } from "./schema/vocabulary.js";

/**
 * Says why a result cannot be about the item that was asked for; null when it can.
 *
 * Its `type` has to fit the item's kind; a type that the interface does not name is no reason. The
 * result for an address or a hash has to name that one, in whatever spelling. Other kinds have more
 * spellings than can be told apart here: see `itemDiffers`.
 */
export function mismatch(item: Item, result: JsonObject): string | null {
  const { kind, value } = item;
  const { type } = result;
  const fits = typesOf[kind];
  if (type !== fits[0] && isKnownType(type) && !fits.includes(type)) {
    return `it is of the type ${type}, which does not fit the kind ${kind}`;
  }
  if ((kind === "ip" || kind === "sha1") && itemDiffers(value, result["item"])) {
    return `it names ${JSON.stringify(String(result["item"]).slice(0, longestShown))}`;
  }
  return null;
}

/**
 * Whether a result names another item than the one that was asked for.
 *
 * @param value of the item, in its normal form
 * @param named what the result has as `item`
 */
export function itemDiffers(value: string, named: unknown): boolean {
  // Nearly always the service writes an item as it was asked for.
  if (named === value) return false;
  if (typeof named !== "string" || named.length > longestNamed) return true;
  const text = named.trim();
  const plain = readIp(text) ?? readSha1(text);
  if (plain !== null) return plain !== value;
  if (text.toLowerCase() === value.toLowerCase()) return false;
  if (URL.canParse(text)) return !URL.canParse(value) || new URL(text).href !== value;
  return domainToASCII(text.replace(/\.$/, "")) !== value;
}

/**
 * Values of a result that the interface does not list, as `member=value`, and `item_differs` where it
 * names another item but is used all the same.
 */
export function driftFor({ value }: Item, result: JsonObject): readonly string[] {
  const drift = driftOf(result);
  return itemDiffers(value, result["item"]) ? [...drift, "item_differs"] : drift;
}

const typesOf: Readonly<Record<ItemKind, readonly ResultType[]>> = {
  ip: ["IP", "IP_BOGON"],
  domain: ["DOMAIN"],
  url: ["URL"],
  sha1: ["SHA1"],
  crypto_wallet: ["CRYPTO_WALLET"],
  email: ["EMAIL"],
};

/** Longest part of another item that a message shows. */
const longestShown = 100;

/** No item is longer. */
const longestNamed = 65_536;
