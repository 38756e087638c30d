import { domainToASCII } from "node:url";
import type { JsonObject } from "../core/finding.js";
import type { Item, ItemKind } from "../core/item/item.js";
import { readIp } from "../core/item/ip.js";
import { readSha1 } from "../core/item/detect.js";
import { driftOf } from "./schema/drift.js";
import { isKnownType, type ResultType } from "./schema/vocabulary.js";

/**
 * Says why a result cannot be about the requested item; null if it can.
 *
 * Its `type` has to fit the item's kind; an unknown type passes. A result for an address or a hash has
 * to name that item in any spelling. Other kinds have too many spellings to tell: see `itemDiffers`.
 */
export function mismatch(item: Item, result: JsonObject): string | null {
  const { kind, value } = item;
  const { type } = result;
  const fits = typesOf[kind];
  if (type !== fits[0] && isKnownType(type) && !fits.includes(type)) {
    return `its type ${type} does not fit the kind ${kind}`;
  }
  if ((kind === "ip" || kind === "sha1") && itemDiffers(value, result["item"])) {
    return `it names ${JSON.stringify(String(result["item"]).slice(0, longestShown))}`;
  }
  return null;
}

/**
 * Whether a result names an item other than the requested one.
 *
 * @param value the requested item, normalised
 * @param named the result's `item`
 */
export function itemDiffers(value: string, named: unknown): boolean {
  // Services nearly always echo the item unchanged.
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
 * Values in a result that the interface doesn't list, as `member=value`, and `item_differs` if it
 * names another item but is used nevertheless.
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

const longestShown = 100;

/** No item is longer. */
const longestNamed = 65_536;
