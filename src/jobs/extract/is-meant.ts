import { readHostname } from "../../core/item/hostname.js";
import type { WrittenItem } from "../../core/item/word.js";

/** Top-level domains that also are endings of files. */
const extensions: ReadonlySet<string> = new Set(
  "py sh md rs pl ps so zip mov mm cab cat cpa dot app do java".split(" "),
);

/** Countries whose endings also are members of code. */
const countries: ReadonlySet<string> = new Set("id is as by my".split(" "));
/** Top-level domains that few hosts and many members have. */
const members: ReadonlySet<string> = new Set(
  "name map call data date day new open post run select style page foo bar int read".split(" "),
);

/** Names of objects and modules in code. */
const objects: ReadonlySet<string> = new Set(
  "self this that window document obj cfg config conf req res request response".split(" "),
);
/** Such names that hosts have, too. */
const sharedNames: ReadonlySet<string> = new Set(
  "top parent location event module db line row item user users data net http string strings stream format".split(
    " ",
  ),
);

/** Top-level domains that are no members, but words of code. */
const vague: ReadonlySet<string> = new Set(
  "info live link host media network space zone work events email support".split(" "),
);

const topLevel: ReadonlySet<string> = new Set(["com", "org", "net", "io", "edu", "gov"]);
const products: ReadonlySet<string> = new Set(["asp.net", "vb.net", "ado.net", "paint.net"]);

/** Whether the author meant an item: a file name, a version or code may look like one. */
export type Judgement = boolean | ((place: TextPlace) => boolean);

/** Judges an item by the word it was read from, and by its place where the word alone does not tell. */
export function judgeWord({ item, value }: WrittenItem, isDefanged: boolean): Judgement {
  switch (item.kind) {
    case "ip":
      return (
        isDefanged || (item.value.includes(":") ? isAddress(item.value) : judgeQuad(item.value))
      );
    case "sha1":
      return (place) => !standsBefore(place, commit);
    case "domain":
      return isDefanged ? (place) => !isPartOfPath(place) : judgeHost(value);
    case "url":
      return isDefanged || judgeHost(value.replace(/[/?#].*$/s, ""));
    case "email":
    case "crypto_wallet":
      return true;
  }
}

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

/** Whether what stands before the place matches. Looked for backwards, since it seldom does. */
function standsBefore({ text, at }: TextPlace, pattern: RegExp): boolean {
  const before = text.slice(Math.max(0, at - versionReach), at);
  pattern.lastIndex = before.length;
  return pattern.test(before);
}

const versionReach = 64;

/** Four numbers after the word "version", a mask, or a number that ends like a release's. */
function judgeQuad(quad: string): Judgement {
  if (/\.0\.0$|^255\./.test(quad)) return false;
  const isSmall = /^\d\./.test(quad);
  const isRelease = release.test(quad) && !quad.startsWith("10.");
  return (place) =>
    !standsBefore(place, version) &&
    !(isSmall && (standsBefore(place, dated) || standsBefore(place, since))) &&
    !(isRelease && standsBefore(place, product));
}

/** `a::b` is more often C++. */
function isAddress(value: string): boolean {
  return /^[23][\da-f]{3}::/.test(value) || value.split(/:+/).filter(Boolean).length > 2;
}

/** Whether a name that is not defanged is a host's, and not a file's or a member's in code. */
function judgeHost(value: string): Judgement {
  if (/^[\d.:]+$/.test(value)) return judgeQuad(value);
  const name = value.replace(/:.*$/s, "");
  const host = readHostname(name);
  if (host === null) return true;
  const labels = host.name.split(".");
  const [first = ""] = labels;
  const ending = labels.at(-1)!;
  if (ending === "arpa" || products.has(host.name)) return false;
  const isPlain = !host.name.includes("-");
  // Packages of Java and bundles of macOS are domains written backwards.
  if (isPlain && labels.length > 2 && topLevel.has(first)) return false;
  if (!isSpelledAsHost(name, labels.at(-2) ?? "", ending)) return false;
  if (topLevel.has(ending) || first === "www" || host.suffix.includes(".")) return isBare;
  const names = { value, name, labels, ending };
  return (place) => isBare(place) && isHostAt(place, names, isPlain);
}

/** Whether neither a path nor a call has the name in it. */
function isBare(place: TextPlace): boolean {
  return !isPartOfPath(place) && !/^(?:\$\w*)?\(/.test(place.text.slice(place.end, place.end + 32));
}

function isHostAt(place: TextPlace, names: Names, isPlain: boolean): boolean {
  const { labels, ending } = names;
  const [first = ""] = labels;
  const said = isQuoted(place) ? kindOfValue(place) : null;
  if (said !== null) return said === "host";
  if (extensions.has(ending)) return isHostNotFile(names, place);
  if (members.has(ending) || countries.has(ending)) return isHostNotMember(names, place);
  // "As specified.eg. there"
  if (ending === "eg") return place.text.charAt(place.end - 1) !== ".";
  if (ending.length === 2 || isQuoted(place)) return true;
  if (objects.has(first)) return false;
  if (!isPlain) return true;
  if (vague.has(ending))
    return !sharedNames.has(first) && !(isInCode(place) && isCodeAround(place));
  return !(sharedNames.has(first) && isCodeAround(place));
}

interface Names {
  readonly value: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly ending: string;
}

function isHostNotFile(names: Names, place: TextPlace): boolean {
  const { value } = names;
  if (isAlone(place)) return !isListedWithFiles(place) && isListed(place);
  if (isNamedAsFile(names) || isCitedAsFile(place, names)) return false;
  const told = kindInLine(place);
  if (told !== null) return told === "host";
  const line = `${lineBefore(place)} ${lineAfter(place)}`;
  if (fileName.test(line)) return false;
  return address.test(line) || !(isSetOff(place, value) || isCodeAround(place));
}

const address = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])/;

/** Whether a name is written as code, or begins a comment or an entry of a list of changes (`- tool.py: …`). */
function isSetOff(place: TextPlace, value: string): boolean {
  if (isQuoted(place) || lineAfter(place).startsWith("`")) return true;
  if (/^\s*(?:#|\/\/)\s*$/.test(lineBefore(place))) return true;
  const behind = place.at + value.length;
  return /^:\s/.test(place.text.slice(behind, behind + 2)) && startsLine(place);
}

/**
 * Whether a name is in a Markdown link, has a place in it (`url.md#class-url`), or something is in it; or is in
 * another one, in the header of RCS, or in the statistics of a patch.
 */
function isCitedAsFile(place: TextPlace, { value, ending }: Names): boolean {
  return (
    /(?:\](?:\(|: *)|\bin [`"']?)$/.test(lineBefore(place)) ||
    /^[`"']?\](?:\(|\[|:)/.test(lineAfter(place)) ||
    /^(?:,v \d|\s*\|\s+(?:\d+ [+-]|Bin ))/.test(lineAfter(place)) ||
    /^ in \S+\.(\w+)/.exec(lineAfter(place))?.[1] === ending ||
    place.text.startsWith("#", place.at + value.length)
  );
}

function isHostNotMember({ labels, ending }: Names, place: TextPlace): boolean {
  const [first = ""] = labels;
  if (fileBehind.test(labels.at(-2)!)) return false;
  if (objects.has(first) || (sharedNames.has(first) && members.has(ending))) return false;
  if (isAlone(place)) return isListed(place);
  if (isInCode(place) || isMemberBesideOthers(place, first)) return false;
  const told = kindInLine(place);
  if (told !== null) return told === "host";
  if (isQuoted(place)) return true;
  if (members.has(ending) && !labels.some((label) => /[-\d]/.test(label))) return false;
  if (labels.length === 2 && (first.length === 1 || sharedNames.has(first))) return false;
  return !isCodeAround(place);
}

/** Whether a name alone in its line is neither among code nor the title of a page about it. */
function isListed(place: TextPlace): boolean {
  return (
    !isCodeAround(place) &&
    !/^\r?\n\s*([~=-])\1{3}/.test(place.text.slice(place.end, place.end + 64))
  );
}

/** `data.id, data.url`, `lookup[token.name, token.id]` */
function isMemberBesideOthers(place: TextPlace, object: string): boolean {
  return `${lineBefore(place)}\n${lineAfter(place)}`.includes(`${object}.`);
}

function isPartOfPath({ text, at }: TextPlace): boolean {
  const before = text.charAt(at - 1);
  return before === "\\" || before === "$";
}

/** `System.Net`, `user.firstName.in` and `scope.GLOBAL` are code; `end.It` ends a sentence. */
function isSpelledAsHost(name: string, registered: string, ending: string): boolean {
  const written = name.replace(/\.$/, "");
  if (/\.[A-Z][a-z]+$/.test(written)) return false;
  if (topLevel.has(ending)) return true;
  if (ending.length > 2 && /[a-z]\.[A-Z]+$/.test(written)) return false;
  return !/[a-z][A-Z]|_\w*\.\w+$/.test(written) && !/^\d{1,2}$/.test(registered);
}

const fileStem =
  /^(?:readme|changelog|changes|news|todo|licen[cs]e|copying|copyright|notice|authors|security|contributing|install|setup|main|index|lib|mod|conf|config|configure|tests?|utils?|init|manage|makefile|build|run|script|start|stop|(?:lib|nss-|pam-)[\w-]+)$/;
const fileBehind =
  /^(?:pdf|docx?|xlsx?|pptx?|txt|jpe?g|png|tar|min|exe|html?|xml|json|csv|css|js)$/;
const port = /:(?:80|443|\d{4,5})$/;

/** Whether the name itself is spelled as a file's. */
function isNamedAsFile({ value, name, labels }: Names): boolean {
  const [stem = ""] = labels;
  if (/[A-Z]{2}.*\.[a-z]+$|[a-z\d]\.[A-Z]+$|^[A-Z][a-z]+\.app$|_/.test(name)) return true;
  if (labels.length === 2 && fileStem.test(stem)) return true;
  if (labels.length > 2 && fileBehind.test(labels.at(-2)!)) return true;
  return value.includes(":") && !port.test(value);
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
  if (behind !== null) return behind.groups?.["host"] === undefined ? "other" : "host";
  const [, description = ""] = described.exec(lineAfter(place)) ?? [];
  const kinds = Array.from(description.matchAll(told), ({ groups }) => groups?.["host"]);
  if (kinds.length > 0) return kinds.some(Boolean) ? "host" : "other";
  const before = lineBefore(place).slice(-wordReach).replace(otherName, "");
  let nearest: "host" | "other" | null = null;
  // matchAll would copy the expression for every name.
  told.lastIndex = 0;
  for (let word = told.exec(before); word !== null; word = told.exec(before)) {
    nearest = word.groups?.["host"] === undefined ? "other" : "host";
  }
  return nearest;
}

const fileKey =
  /file|path|script|command|image|module|process|attachment|(?<![a-z])(?:main|bin|cmd|exe)(?![a-z])/i;
const hostKey =
  /domain|host|dns|fqdn|sni|server|query|rrname|ur[il]|link|site|ioc|indicator|observable|de?st|src|e?mail/i;

/** What the name or the declared type of a quoted value says. */
function kindOfValue(place: TextPlace): "host" | "file" | null {
  const name = nameOfValue(place);
  return fileKey.test(name) ? "file" : hostKey.test(name) ? "host" : null;
}

/** Where the word with an item begins and ends in its text. */
export interface TextPlace {
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

/** Whether quotes enclose exactly the word. */
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

/** Whether a line holds nothing else than the word. */
export function isAlone(place: TextPlace): boolean {
  return startsLine(place) && lineTail.test(lineAfter(place));
}

/** Endings of files that are no top-level domains. */
const fileEndings =
  "7z a apk asp aspx awk bak bash bat bin bmp bz2 c cfg chm class cmd cmake conf config cpp cs css " +
  "csv cxx dat db deb diff dll dmg doc docx dylib elf eml exe gif gz h hpp hta htm html ico img " +
  "ini ipa iso jar jpeg jpg js json jsp jsx key ko lnk lock log lua m4 mak mjs mp3 mp4 msi " +
  "ocx odt patch pcap pdf pem php png po ppt pptx ps1 pyc rar rb rc rpm rst rtf scr service sql " +
  "svg swf sys tar tbz2 tex tgz tmp toml ts tsv tsx ttf txt vbe vbs war wasm wav webp xhtml xls xlsm " +
  "xlsx xml xsl xz yaml yar yml";
const files = `[\\w-]\\.(?:${fileEndings.replaceAll(" ", "|")})(?![\\w-]|\\.\\w)`;
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
