import { fileExtensions } from "../../core/item/detect.js";
import { hasPublicSuffix, readHostname } from "../../core/item/hostname.js";
import type { WrittenItem } from "../../core/item/word.js";

/** Groups words; a word has one group. */
function groups<G extends string>(words: Record<G, string>): ReadonlyMap<string, G> {
  const named = Object.entries(words) as [G, string][];
  return new Map(named.flatMap(([group, list]) => list.split(" ").map((word) => [word, group])));
}

/** Top-level domains that also are endings of files, or members in code, or just words of it. */
const endings = groups({
  file: "py sh md rs pl ps so cc am ac zip mov mm cab cat cpa dot app do java",
  country: "id is as by my",
  member: "name map call data date day new open post run select style page foo bar int read",
  vague: "info live link host media network space zone work events email support",
  common: "com org net io edu gov",
});

/** What stands first in code: names of objects and modules, and such names that hosts have, too. */
const objects = groups({
  object: "self this that window document obj cfg config conf req res request response",
  shared:
    "top parent location event module db line row item user users data net http string strings stream format",
});

const products: ReadonlySet<string> = new Set(["asp.net", "vb.net", "ado.net", "paint.net"]);

/** Whether the author meant an item: a file name, a version or code may look like one. */
type Judgement = boolean | ((place: TextPlace) => boolean);

/** Judges an item by the word it was read from, and by its place where the word alone does not tell. */
export function judgeWord({ item, value }: WrittenItem, isDefanged: boolean): Judgement {
  switch (item.kind) {
    case "ip":
      return (
        isDefanged || (item.value.includes(":") ? isAddress(item.value) : judgeQuad(item.value))
      );
    case "sha1":
      return isNoCommit;
    case "domain":
      return isDefanged ? isNoPath : judgeHost(value);
    case "url":
      return isDefanged || scheme.test(value) || judgeHost(value.replace(/[/?#].*$/s, ""));
    case "email":
    case "crypto_wallet":
      return true;
  }
}

const scheme = /^\w+:\/\//;
const commit = /(?<=\b(?:commit|revision|rev|tree|blob|parent|git \w+)[\s:=]+)/iy;
/** The word "version" or the like, and other versions between it and this one. */
const version =
  /(?<=(?:\b(?:\w*versions?|ver|v|builds?|release|firmware|rev|revision|update[ds]?|upgrade[ds]?|patch(?:ed to)?|section|chapter|fixed in|affected)\.?|version.{0,12} (?:to|and|than|before))[\s:="']+(?:\d[\d.]*(?:\s*[,;/]|\s+(?:and|or|to))+\s+)*)/iy;
/** Compares releases. */
const since =
  /(?<=\b(?:since|until|prior to|relative to|(?:old|new|lat|earli)er than|RFC \d+(?: section)?) )/iy;
/** A word with a capital letter before four numbers: a product (`Reader 11.0.0.23`). */
const product =
  /(?<=(?:^|\s)(?!(?:IPs?|IPv4|C2|DNS|Address|Host|Server|Client|Source|From|To|At|On|And|Or|The|Peer|Remote|Target|Blocked?)\s)[A-Z][\w.]*[a-z]\w* )/y;
/** Releases in a heading have their day beside them. */
const dated = /(?<=(?:^|[^\d-])\d{4}-\d\d-\d\d[ ,:]*\()/y;
/** Numbers of a release: a small one first, and a zero. */
const release = /^[12]?\d\.(?:\d+\.)*0(?:\.|$)/;

/** Judges a place by what must not stand before it. Looked for backwards, since it seldom does. */
function notBehind(...patterns: readonly RegExp[]): (place: TextPlace) => boolean {
  return ({ text, at }) => {
    const before = text.slice(Math.max(0, at - versionReach), at);
    for (const pattern of patterns) {
      pattern.lastIndex = before.length;
      if (pattern.test(before)) return false;
    }
    return true;
  };
}

const versionReach = 64;

// Judgements are remembered with each word, so that words share them.
const isNoCommit = notBehind(commit);
const isNoVersion = notBehind(version);
const isNoSmallVersion = notBehind(version, dated, since);
const isNoRelease = notBehind(version, product);
const isNoSmallRelease = notBehind(version, dated, since, product);

/** Four numbers after the word "version", a mask, or a number that ends like a release's. */
function judgeQuad(quad: string): Judgement {
  if (/\.0\.0$|^255\./.test(quad)) return false;
  const isSmall = /^\d\./.test(quad);
  const isRelease = release.test(quad) && !quad.startsWith("10.");
  if (isRelease) return isSmall ? isNoSmallRelease : isNoRelease;
  return isSmall ? isNoSmallVersion : isNoVersion;
}

/** `a::b` is more often C++. */
function isAddress(value: string): boolean {
  return /^[23][\da-f]{3}::/.test(value) || value.split(/:+/).filter(Boolean).length > 2;
}

/** `user.firstName.in` and `scope.GLOBAL` */
const member = /[a-z]\.[A-Z]{3,}\.?$|[a-z][A-Z]|_\w*\.\w+\.?$/;

/** Whether a name that is not defanged is a host's, and not a file's or a member's in code. */
function judgeHost(value: string): Judgement {
  if (/^[\d.:]+$/.test(value)) return judgeQuad(value);
  const name = value.replace(/:.*$/s, "");
  const host = readHostname(name);
  if (host === null) return true;
  const dot = host.name.indexOf(".");
  const lastDot = host.name.lastIndexOf(".");
  const first = host.name.slice(0, dot);
  const ending = endings.get(host.name.slice(lastDot + 1));
  const isPlain = !host.name.includes("-");
  if (host.suffix.endsWith("arpa") || products.has(host.name)) return false;
  // Packages of Java and bundles of macOS are domains written backwards.
  if (isPlain && dot < lastDot && endings.get(first) === "common") return false;
  // `System.Net` is code, and `end.It` ends a sentence.
  if (/\.[A-Z][a-z]+\.?$/.test(name)) return false;
  if (ending === "common") return isBare;
  if (member.test(name) || /(?:^|\.)\d{1,2}\.[^.]+$/.test(host.name)) return false;
  if (first === "www" || host.suffix.includes(".")) return isBare;
  const names = { value, name, labels: host.name.split("."), ending };
  return (place) => isBare(place) && isHostAt(place, names, isPlain);
}

interface Names {
  readonly value: string;
  readonly name: string;
  readonly labels: readonly string[];
  /** The group of the top-level domain. */
  readonly ending: "file" | "country" | "member" | "vague" | "common" | undefined;
}

/** Whether neither a path nor a call has the name in it. */
function isBare(place: TextPlace): boolean {
  return isNoPath(place) && !/^(?:\$\w*)?\(/.test(place.text.slice(place.end, place.end + 32));
}

function isNoPath({ text, at }: TextPlace): boolean {
  const before = text.charAt(at - 1);
  return before !== "\\" && before !== "$";
}

function isHostAt(place: TextPlace, names: Names, isPlain: boolean): boolean {
  const { labels, ending } = names;
  const said = isQuoted(place) ? nameOfValue(place) : "";
  if (fileKey.test(said)) return false;
  if (hostKey.test(said)) return true;
  if (ending === "file") return isHostNotFile(names, place);
  if (ending === "member" || ending === "country") return isHostNotMember(names, place);
  // "As specified.eg. there"
  if (labels.at(-1) === "eg") return place.text.charAt(place.end - 1) !== ".";
  if (labels.at(-1)!.length === 2 || isQuoted(place)) return true;
  const first = objects.get(labels[0]!);
  if (first === "object" || !isPlain) return first !== "object";
  if (ending === "vague") return first === undefined && !(isInCode(place) && isCodeAround(place));
  return !(first === "shared" && isCodeAround(place));
}

function isHostNotFile(names: Names, place: TextPlace): boolean {
  if (isAlone(place)) return !isListedWithFiles(place) && !isCodeAround(place);
  if (isNamedAsFile(names) || isCitedAsFile(place, names)) return false;
  const told = kindInLine(place);
  if (told !== null) return told === "host";
  const line = `${lineBefore(place)} ${lineAfter(place)}`;
  if (fileName.test(line)) return false;
  return address.test(line) || !(isSetOff(place, names) || isCodeAround(place));
}

const address = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])/;

/** Whether a name is written as code, or begins a comment or an entry of a list of changes (`- tool.py: …`). */
function isSetOff(place: TextPlace, { value }: Names): boolean {
  if (isQuoted(place) || lineAfter(place).startsWith("`")) return true;
  if (/^\s*(?:#|\/\/)\s*$/.test(lineBefore(place))) return true;
  const behind = place.at + value.length;
  return /^:\s/.test(place.text.slice(behind, behind + 2)) && startsLine(place);
}

/**
 * Whether a name is in a Markdown link, the header of RCS, the statistics of a patch or another name, or has one
 * or a place in it (`url.md#class-url`).
 */
function isCitedAsFile(place: TextPlace, { value, labels }: Names): boolean {
  const after = lineAfter(place);
  return (
    /(?:\](?:\(|: *)|\bin [`"']?)$/.test(lineBefore(place)) ||
    /^(?:[`"']?\](?:\(|\[|:)|,v \d|\s*\|\s+(?:\d+ [+-]|Bin ))/.test(after) ||
    /^ in \S+\.(\w+)/.exec(after)?.[1] === labels.at(-1) ||
    place.text.startsWith("#", place.at + value.length)
  );
}

function isHostNotMember({ labels, ending }: Names, place: TextPlace): boolean {
  const first = labels[0]!;
  const object = objects.get(first);
  if (object === "object" || (object === "shared" && ending === "member")) return false;
  if (isAlone(place)) return !isCodeAround(place);
  // `data.id, data.url`, `lookup[token.name, token.id]`
  const line = `${lineBefore(place)}\n${lineAfter(place)}`;
  if (isInCode(place) || line.includes(`${first}.`)) return false;
  const told = kindInLine(place);
  if (told !== null) return told === "host";
  if (isQuoted(place)) return true;
  if (ending === "member" && !labels.some((label) => /[-\d]/.test(label))) return false;
  if (labels.length === 2 && (first.length === 1 || object === "shared")) return false;
  return !isCodeAround(place);
}

const fileStem =
  /^(?:readme|changelog|changes|news|todo|licen[cs]e|copying|copyright|notice|authors|security|contributing|install|setup|main|index|lib|mod|conf|config|configure|tests?|utils?|init|manage|makefile|build|run|script|start|stop|(?:lib|nss-|pam-)[\w-]+)$/;

/** Ports of hosts; other numbers are those of lines (`parser.rs:42`). */
const port = /:(?:80|443|\d{4,5})$/;

function isNamedAsFile({ value, name, labels }: Names): boolean {
  return (
    /[A-Z]{2}.*\.[a-z]+$|[a-z\d]\.[A-Z]+$|^[A-Z][a-z]+\.app$|_/.test(name) ||
    (labels.length === 2 && fileStem.test(labels[0]!)) ||
    (value.includes(":") && !port.test(value))
  );
}

const operator = /^["'`]?\s*(?:[=!<>]=|[+*%|&]=?\s|=\s|=>|\?\s|\[|;\s*$|\)\s*[{;)\]])/;
const prefix = /(?:[!&$@+*]|%\s|=\s?|=>\s|\breturn\s|\bnew\s|\bdel\s|\bif\s\(?|\w\()$/;

function isInCode(place: TextPlace): boolean {
  return operator.test(lineAfter(place)) || prefix.test(lineBefore(place));
}

const fileWords =
  "files?|filename|scripts?|archives?|attach\\w*|modules?|librar(?:y|ies)|programs?|binar(?:y|ies)|executables?|" +
  "packages?|bundles?|documents?|artifacts?|sources?|folders?|director(?:y|ies)|opens?|opened|runs?|running|" +
  "execut(?:e[sd]?|ing)|starts?|started|launch\\w*|reads?|edit(?:s|ed)?|sav(?:e[sd]?|ing)|unzips?|unpack\\w*|import(?:s|ed)?|" +
  "chmod|bash|sh|python[\\d.]*|perl|rustc|cat|vim?|cp|mv|rm|tar|patch(?:ed|es)?|wrote|writes?|written|drops|dropped|" +
  "kits?|download(?:s|ed)?|upload(?:s|ed)?|compil\\w+|renamed?|(?:updated|modified|rewrote)(?=\\s\\S*$)|" +
  "(?:modified|adapted|derived|copied|taken|ported|config\\w*)\\sfrom";
const codeWords =
  "branch|tag|keys?|fields?|propert(?:y|ies)|methods?|functions?|variables?|attributes?|class|columns?|objects?|mutex|pipe|members?|parameters?|namespace";
const hostWords =
  "domains?|domain-name|host(?:s|ed|name|names)?|fqdn|(?:web)?sites?|(?:name)?servers?|c2|c&c|dns|quer(?:y|ies|ied)|resolv\\w+|visit\\w*|" +
  "sent to|redirect\\w*|connect\\w*|contact\\w*|beacon\\w*|urls?|links? to|linked to|regist\\w+|sni|cname|mx|" +
  "(?:download|fetch|retriev|receiv|load|serv|upload|pull)\\w*\\s(?:\\w+\\s)?(?:from|to)|lookups?|traffic|prox(?:y|ied)|block(?:s|ed)?|browse[rd]?|tunnel\\w*";
const told = new RegExp(
  `(?<![\\w.-])(?:(?<host>${hostWords})|(?:${fileWords}|${codeWords}))(?![\\w-]|\\.\\w)`,
  "gi",
);
const toldBehind = new RegExp(
  `^["'\`)]*[\\s,]\\s*(?:(?<host>domains?|domain-name|host(?:name)?|sites?|servers?|resolv\\w+|from \\d|was registered|answer\\w*)|versions?|is (?:called|run|sourced|executed)|${fileWords}|${codeWords})(?![\\w-]|\\.\\w)`,
  "i",
);
/** `ltmain.sh - auxiliary file`, `tidy.pl is a script that …` */
const described = /^["'`)]*\s+(?:[-–—]+|(?:is|was) (?:an?|the|one))\s(.{1,48})/;
const wordReach = 64;
/** What is said of another name, which no comma or "and" joins with this one. */
const otherName = /^.*[\w-]\.[\w-]+[^\s,;]*\s+(?!(?:and|or|und|et|y|&)\s)/s;

/** What the nearest word says of the name that stands in its line. */
function kindInLine(place: TextPlace): "host" | "other" | null {
  const behind = toldBehind.exec(lineAfter(place));
  if (behind !== null) return kindOf(behind);
  const description = described.exec(lineAfter(place))?.[1] ?? "";
  const kinds = kindsIn(description);
  if (kinds.length > 0) return kinds.includes("host") ? "host" : "other";
  return kindsIn(lineBefore(place).slice(-wordReach).replace(otherName, "")).at(-1) ?? null;
}

function kindsIn(text: string): readonly ("host" | "other")[] {
  return Array.from(text.matchAll(told), kindOf);
}

function kindOf({ groups }: RegExpExecArray): "host" | "other" {
  return groups?.["host"] === undefined ? "other" : "host";
}

const fileKey =
  /file|path|script|command|image|module|process|attachment|(?<![a-z])(?:main|bin|cmd|exe)(?![a-z])/i;
const hostKey =
  /domain|host|dns|fqdn|sni|server|query|rrname|ur[il]|link|site|ioc|indicator|observable|de?st|src|e?mail/i;

/** Where the word with an item begins and ends in its text. */
interface TextPlace {
  readonly text: string;
  readonly at: number;
  readonly end: number;
}

/** Members of code and lists are short; what is further away says little. */
const reach = 160;

function lineBefore({ text, at }: TextPlace): string {
  const before = text.slice(Math.max(0, at - reach), at);
  return before.slice(Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1);
}

function lineAfter({ text, end }: TextPlace): string {
  return /^[^\n\r]*/.exec(text.slice(end, end + reach))![0];
}

function isQuoted({ text, at, end }: TextPlace): boolean {
  const quote = text.charAt(at - 1);
  return (quote === '"' || quote === "'") && text.charAt(end) === quote;
}

const bullet = /^\s*(?:>\s)?\s*(?:[-*•·+]|\d{1,3}[.)])?[\s"'`<|]*$/;
const lineTail = /^[\s"'`>|,;.]*$/;

/** Whether a word begins its line, perhaps as an entry of a list. */
function startsLine(place: TextPlace): boolean {
  return bullet.test(lineBefore(place));
}

export function isAlone(place: TextPlace): boolean {
  return startsLine(place) && lineTail.test(lineAfter(place));
}

/** Endings of files that are no top-level domains. */
const fileEndings = [...fileExtensions].filter((ending) => !hasPublicSuffix(`a.${ending}`));
const files = `[\\w-]\\.(?:${fileEndings.join("|")})(?![\\w-]|\\.\\w)`;
const fileName = new RegExp(files, "i");
/** A line that is a file's name or a path. */
const fileLine = new RegExp(`^\\S*${files}\\S?$|^[~.]{0,2}/?(?:[\\w.-]+/)+[\\w.-]*$`, "i");

const nearLines = 512;

/** Whether a line next to the word's is the name of a file: a listing has one kind. */
function isListedWithFiles({ text, at, end }: TextPlace): boolean {
  const before = text.slice(Math.max(0, at - nearLines), at).split(/\r?\n|\r/);
  const after = text.slice(end, end + nearLines).split(/\r?\n|\r/);
  return [...linesUntilGap(before.reverse()), ...linesUntilGap(after)].some((line) =>
    fileLine.test(line),
  );
}

/** Up to three lines from the second on, before an empty one. */
function linesUntilGap(lines: readonly string[]): readonly string[] {
  const near = lines.slice(1, 4).map((line) => line.replaceAll(/^[\s"'`*•-]+|[\s"'`,;]+$/g, ""));
  const gap = near.indexOf("");
  return gap < 0 ? near : near.slice(0, gap);
}

const key =
  /(?:^|[\s{,[(])(["']?)([a-z][\w .:@-]{0,40}?)\1\s*(?:[:=]|=>)\s*\[?\s*(?:(["'])[^"'\n]{0,80}\3\s*,\s*){0,9}$/i;
const type =
  /"(?:type|kind|category|data_?type|ioc_?type|indicator_?type|object_relation)"\s*:\s*"([^"]*)"/i;

/** What a quoted value is called, and the type that a JSON object declares for it. */
function nameOfValue({ text, at, end }: TextPlace): string {
  const before = text.slice(Math.max(0, at - 1 - 2 * reach), at - 1);
  const name = key.exec(before)?.[2];
  if (name === undefined) return "";
  const object =
    before.slice(Math.max(before.lastIndexOf("{"), before.lastIndexOf("}")) + 1) +
    /^[^{}]*/.exec(text.slice(end, end + 2 * reach))![0];
  return `${type.exec(object)?.[1] ?? ""} ${name}`;
}

/**
 * What code has, and text about code: names with `_`, calls, options, paths, numbers of issues, ends of
 * lines. Each begins with a character that few words have.
 */
const signs = new RegExp(
  [
    /_(?<=\w_)(?=\w)|\((?<=\w\()|#\d|-(?<=\s--?)[a-z]|`\w|::(?<=\w::)(?=\w)|->/,
    /\/(?<=[\s(`][a-z][\w-]{0,40}\/)[\w-]+[./][a-z]/,
    /:(?<=[a-z]\.[a-z]{1,3}:)\s/,
    /\.(?<=\w\.)(?:c|h|cpp|hpp|rst|m4|patch|diff|toml|css|deb)\b/,
    /\n(?<=[;{([]\r?\n)|\n[ \t]*(?:[})*@\]]|\/\/|>>> |\.[A-Z])/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gi",
);
const mostSigns = 3;
const nearCode = 600;

/** Whether the text around a place is code, or about code. */
function isCodeAround({ text, at, end }: TextPlace): boolean {
  const around = text.slice(Math.max(0, at - nearCode), end + nearCode);
  signs.lastIndex = 0;
  for (let count = 1; signs.test(around); count++) if (count >= mostSigns) return true;
  return false;
}
