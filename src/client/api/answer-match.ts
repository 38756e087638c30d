import { domainToASCII } from "node:url";
import type { JsonObject } from "../../core/finding.js";
import {
  blocklistStatuses,
  intents,
  mailBlocklist,
  isKnownType,
  abuseContactStatuses,
  resultTypes,
} from "../../core/endpoints/endpoint.js";
import { asObject } from "../../core/json-members.js";
import type { Item, ItemKind } from "../../core/item/item.js";
import { readIp } from "../../core/item/ip.js";
import { readSha1 } from "../../core/item/detect.js";
import { quoted } from "../../core/wording/printable.js";
import { isTimestamp } from "../../core/clock.js";

/**
 * Says why a result cannot be about the requested item; null if it can.
 *
 * Its `type` has to fit the item's kind; an unknown type passes. A result for an address or a hash
 * has to name that item, in any spelling. Other kinds have too many spellings: see `driftFor`.
 */
export function mismatch(item: Item, result: JsonObject): string | null {
  const { kind, value } = item;
  const { type } = result;
  const fits = typesOf[kind];
  if (type !== fits[0] && isKnownType(type) && !fits.includes(type)) {
    return `its type ${type} does not fit the kind ${kind}`;
  }
  if ((kind === "ip" || kind === "sha1") && itemDiffers(value, result["item"])) {
    return `it names ${quoted(String(result["item"]))}`;
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
  if (plain !== null) return plain !== value && plain !== readIp(value);
  if (text.toLowerCase() === value.toLowerCase()) return false;
  if (URL.canParse(text)) return !URL.canParse(value) || new URL(text).href !== value;
  return domainToASCII(text.replace(/\.$/, "")) !== value;
}

/**
 * Values in a result that the interface doesn't list, as `member=value`, and `item_differs` if it
 * names another item.
 */
export function driftFor({ value }: Item, result: JsonObject): readonly string[] {
  const drift = driftOf(result);
  return itemDiffers(value, result["item"]) ? [...drift, "item_differs"] : drift;
}

const typesOf: Readonly<Record<ItemKind, readonly (typeof resultTypes)[number][]>> = {
  ip: ["IP", "IP_BOGON"],
  domain: ["DOMAIN"],
  url: ["URL"],
  sha1: ["SHA1"],
  crypto_wallet: ["CRYPTO_WALLET"],
  email: ["EMAIL"],
};

/** Longest `item` of a result that is compared; a longer one differs. */
const longestNamed = 65_536;

const types: ReadonlySet<unknown> = new Set(resultTypes);
const blocklists: ReadonlySet<unknown> = new Set(blocklistStatuses);
const intentions: ReadonlySet<unknown> = new Set(intents);
const contacts: ReadonlySet<unknown> = new Set(abuseContactStatuses);

const none: readonly string[] = [];

/**
 * The values of a query or quick-check result that the interface doesn't know, as `member=value`:
 * unknown enumeration values (`intent=evil`) and malformed times (`firstSeen=not a date-time`). Such
 * values are kept; counting them shows that the interface has changed.
 */
function driftOf(result: JsonObject): readonly string[] {
  const contact = asObject(result["abuseContact"]);
  const activity = asObject(result["observedActivity"]);
  const found: string[] = [];
  word(found, "type", result["type"], types);
  word(found, "serviceMailBlocklist", mailBlocklist(result), blocklists);
  word(found, "intent", result["intent"], intentions);
  times(found, "", result);
  if (contact !== null) {
    word(found, "abuseContact.status", contact["status"], contacts);
    time(found, "abuseContact.", "lastVerification", contact["lastVerification"]);
  }
  if (activity !== null) {
    times(found, "honeypotInteractions.", asObject(activity["honeypotInteractions"]));
    times(found, "spamtrapInteractions.", asObject(activity["spamtrapInteractions"]));
  }
  return found.length === 0 ? none : found;
}

const longestValue = 60;

function word(found: string[], member: string, value: unknown, known: ReadonlySet<unknown>): void {
  if (typeof value !== "string" || known.has(value)) return;
  found.push(`${member}=${value.slice(0, longestValue)}`);
}

function times(found: string[], prefix: string, result: JsonObject | null): void {
  if (result === null) return;
  time(found, prefix, "firstSeen", result["firstSeen"]);
  time(found, prefix, "lastSeen", result["lastSeen"]);
}

function time(found: string[], prefix: string, member: string, value: unknown): void {
  if (typeof value !== "string" || isTimestamp(value)) return;
  // Leave the value out: each distinct one would be counted on its own, without bound.
  found.push(`${prefix}${member}=not a date-time`);
}
