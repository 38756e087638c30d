import type { Item } from "../../core/item/item.js";
import { isHost, isPartOfPath } from "./is-host.js";
import type { TextPlace } from "./surroundings.js";

export interface Mention extends TextPlace {
  readonly item: Item;
  readonly value: string;
  readonly isDefanged: boolean;
}

/** Whether the author meant the item: a file name, a version or code may look like one. */
export function isMeant(mention: Mention): boolean {
  const { item, isDefanged, value } = mention;
  switch (item.kind) {
    case "ip":
      return isDefanged || (item.value.includes(":") ? isAddress(item.value) : !isVersion(mention));
    case "sha1":
      return !standsBefore(mention, commit);
    case "domain":
      return isDefanged ? !isPartOfPath(mention) : isHostMeant(value, mention);
    case "url":
      return isDefanged || isHostMeant(value.replace(/[/?#].*$/s, ""), mention);
    case "email":
    case "crypto_wallet":
      return true;
  }
}

const commit = /(?<=\b(?:commit|revision|rev|tree|blob|parent|git \w+)[\s:=]+)/iy;
/** The word "version" or the like, and other versions between it and this one. */
const version =
  /(?<=(?:\b(?:\w*versions?|ver|v|builds?|release|firmware|rev|revision|update[ds]?|upgrade[ds]?|patch(?:ed to)?|section|chapter|fixed in|affected)\.?|version.{0,12} (?:to|and|than|before))[\s:="']+(?:\d[\d.]*(?:\s*[,;/]|\s+(?:and|or|to))+\s+)*)/iy;
/** A word with a capital letter before four numbers: a product (`Reader 11.0.0.23`). */
const product =
  /(?<=(?:^|\s)(?!(?:IPs?|IPv4|C2|DNS|Address|Host|Server|Client|Source|From|To|At|On|And|Or|The|Peer|Remote|Target|Blocked?)\s)[A-Z][\w.]*[a-z]\w* )/y;
/** Releases in a heading have their day beside them. */
const dated = /(?<=(?:^|[^\d-])\d{4}-\d\d-\d\d[ ,:]*\()/y;
/** Numbers of a release: a small one first, and a zero. */
const release = /^[12]?\d\.(?:\d+\.)*0(?:\.|$)/;

/** Whether what stands before the mention matches. Looked for backwards, since it seldom does. */
function standsBefore({ text, at }: Mention, pattern: RegExp): boolean {
  const before = text.slice(Math.max(0, at - reach), at);
  pattern.lastIndex = before.length;
  return pattern.test(before);
}

const reach = 64;

/** Four numbers after the word "version", a mask, or a number that ends like a release's. */
function isVersion(mention: Mention): boolean {
  const { value } = mention.item;
  if (/\.0\.0$|^255\./.test(value)) return true;
  return (
    standsBefore(mention, version) ||
    (/^\d\./.test(value) && standsBefore(mention, dated)) ||
    (release.test(value) && !value.startsWith("10.") && standsBefore(mention, product))
  );
}

/** `a::b` is more often C++. */
function isAddress(value: string): boolean {
  return /^[23][\da-f]{3}::/.test(value) || value.split(/:+/).filter(Boolean).length > 2;
}

function isHostMeant(value: string, mention: Mention): boolean {
  if (/^[\d.:]+$/.test(value)) return !isVersion(mention);
  return isHost(value, mention);
}
