import { readHostname } from "../core/item/hostname.js";
import type { Item } from "../core/item/item.js";

export interface Mention {
  readonly item: Item;
  readonly value: string;
  readonly isDefanged: boolean;
  readonly text: string;
  /** Where the word with the item begins and ends in the text. */
  readonly at: number;
  readonly end: number;
}

/** Whether the author meant the item: a file name, a version or code may look like one. */
export function isMeant(mention: Mention): boolean {
  const { item, isDefanged, value } = mention;
  switch (item.kind) {
    case "ip":
      return item.value.includes(":") ? isAddress(item.value) : isDefanged || !isVersion(mention);
    case "sha1":
      return !commit.test(textBefore(mention));
    case "domain":
      return isDefanged ? !isPartOfPath(mention) : isHost(value, mention);
    case "url":
      return isDefanged || isHost(value.replace(/[/?#].*$/s, ""), mention);
    case "email":
    case "crypto_wallet":
      return true;
  }
}

const commit = /\b(?:commit|revision|rev|tree|blob|parent|git \w+)[\s:=]+$/i;
/** The word "version" or the like, and other versions between it and this one. */
const version =
  /(?:\b(?:\w*versions?|ver|v|builds?|release|firmware|rev|revision|update[ds]?|upgrade[ds]?|patch(?:ed to)?|section|chapter|fixed in|affected)\.?|version.{0,12} (?:to|and|than|before))[\s:="']+(?:\d[\d.]*(?:\s*[,;/]|\s+(?:and|or|to))+\s+)*$/i;
/** A word with a capital letter before four numbers: a product (`Reader 11.0.0.23`). */
const product =
  /(?:^|\s)(?!(?:IPs?|IPv4|C2|DNS|Address|Host|Server|Client|Source|From|To|At|On|And|Or|The|Peer|Remote|Target|Blocked?)\s)[A-Z][\w.]*[a-z]\w* $/;
/** Numbers of a release: a small one first, and a zero. */
const release = /^[12]?\d\.(?:\d+\.)*0(?:\.|$)/;
const reach = 64;

function textBefore({ text, at }: Mention): string {
  return text.slice(Math.max(0, at - reach), at);
}

/** Four numbers after the word "version", a mask, or a number that ends like a release's. */
function isVersion(mention: Mention): boolean {
  const { value } = mention.item;
  if (/\.0\.0$|^255\./.test(value)) return true;
  const before = textBefore(mention);
  return (
    version.test(before) ||
    (release.test(value) && !value.startsWith("10.") && product.test(before))
  );
}

/** `a::b` is more often C++. */
function isAddress(value: string): boolean {
  return value.split(/:+/).filter((group) => group !== "").length > 2;
}

function isPartOfPath({ text, at }: Mention): boolean {
  const before = text.charAt(at - 1);
  return before === "\\" || before === "$";
}

/** Whether a name that is not defanged is a host's. */
function isHost(value: string, mention: Mention): boolean {
  if (/^[\d.:]+$/.test(value)) return !isVersion(mention);
  const name = value.replace(/:.*$/s, "");
  const host = readHostname(name);
  if (host === null) return true;
  if (isPartOfPath(mention) || mention.text.charAt(mention.end) === "(") return false;
  const labels = host.name.split(".");
  const [first = ""] = labels;
  const ending = labels.at(-1)!;
  const isWeb = first === "www";
  if (!isWeb && !host.suffix.includes(".")) {
    if (extensions.has(ending) || (members.has(ending) && !isQuoted(mention))) return false;
  }
  if (isMember(labels, ending) && !isQuoted(mention)) return false;
  if (ending === "arpa" || products.has(host.name)) return false;
  // Packages of Java and bundles of macOS are domains written backwards.
  if (labels.length > 2 && topLevel.has(first)) return false;
  return isSpelledAsHost(name, labels.at(-2) ?? "", ending);
}

/** `self.info`, `window.location.host`; short endings and those of most hosts are left alone. */
function isMember(labels: readonly string[], ending: string): boolean {
  return ending.length > 2 && !topLevel.has(ending) && objects.has(labels[0] ?? "");
}

function isQuoted({ text, at, end }: Mention): boolean {
  const quote = text.charAt(at - 1);
  return (quote === '"' || quote === "'") && text.charAt(end) === quote;
}

/** `System.Net` and `user.firstName.in` are code, and `end.It` ends a sentence. */
function isSpelledAsHost(name: string, registered: string, ending: string): boolean {
  const written = name.replace(/\.$/, "");
  if (/\.[A-Z][a-z]+$/.test(written)) return false;
  if (!topLevel.has(ending) && /[a-z][A-Z]|_\w*\.\w+$/.test(written)) return false;
  return topLevel.has(ending) || !/^\d{1,2}$/.test(registered);
}

const topLevel: ReadonlySet<string> = new Set(["com", "org", "net", "io", "edu", "gov"]);
const products: ReadonlySet<string> = new Set(["asp.net", "vb.net", "ado.net", "paint.net"]);

/** Top-level domains that are, in texts, rather extensions of files. */
const extensions: ReadonlySet<string> = new Set(
  "py sh md rs pl ps so zip mov mm cab cat cpa dot app do java".split(" "),
);

/** Top-level domains that are, outside quotes, rather members of code. */
const members: ReadonlySet<string> = new Set(
  "name id is map call data date day new open post run select style page foo bar int as by my read".split(
    " ",
  ),
);

/** Names of objects and modules in code, whose members may be spelled as top-level domains. */
const objects: ReadonlySet<string> = new Set(
  "self this that window document top parent location event module request response req res obj object cfg config conf db line row item user users data net http string strings stream format".split(
    " ",
  ),
);
