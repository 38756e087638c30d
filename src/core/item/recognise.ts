import {
  detectItem,
  explainUnsupported,
  hasNameOfFile,
  isAddressRange,
  readItemAs,
  unsupported,
} from "./detect.js";
import {
  isPublishedKind,
  type Item,
  type ItemKind,
  type Recognition,
  type UnsupportedCode,
} from "./item.js";
import { refang, strip } from "./refang.js";
import {
  longestText,
  sendable,
  whyUnreadable,
  readInside,
  readWord,
  withoutBullet,
} from "./word.js";

/**
 * Recognises the item in a text and normalises it: strips what surrounds the value, undoes
 * defanging, drops a publisher's prefix (`IP: …`) or a note (`192.0.2.1 (C2)`), detects the kind and
 * normalises accordingly. A text that begins with a scheme is one URL to its end.
 *
 * With a kind (from a kind column, see `parseKindName`), tries that kind first, even where detection
 * would not: a bare host name becomes a URL, `install.sh` a domain. If that fails, detects as usual,
 * since labels are sometimes wrong.
 *
 * Never throws. Idempotent: recognising an item's value with its kind gives the same item. Takes
 * linear time.
 *
 * @param text the cell as written in the input
 * @param kind the kind that the input states; null to detect it
 * @default kind null
 */
export function recogniseItem(text: string, kind: ItemKind | null = null): Recognition {
  const bare = stripCell(text);
  if (bare.length === 0 || isPlaceholder(bare)) return unsupported("empty");
  const unreadable = whyUnreadable(bare);
  if (unreadable !== null) return unsupported(unreadable);
  return recognisePlain(stripCell(refang(bare)), kind);
}

function recognisePlain(plain: string, kind: ItemKind | null): Recognition {
  const value = behindLabel(plain);
  return (
    (value === null ? null : recogniseWhole(value, kind)) ??
    recogniseWhole(plain, kind) ??
    recogniseParts(plain, kind) ??
    (value === null ? null : recogniseParts(value, kind)) ??
    unsupported(explain(value ?? plain))
  );
}

/** Recognises the only item of a text with more in it; null if there is none, or too much. */
function recogniseParts(plain: string, kind: ItemKind | null): Recognition | null {
  if (plain.length < shortestHash && !mark.test(plain)) return null;
  const values = patternValues(plain);
  if (values !== null) return onlyItem(values, kind) ?? recogniseItem(values[0] ?? "text", kind);
  if (isAddressRange(plain)) return unsupported("ip_range");
  const hash = checksum(plain);
  if (hash !== null) return recogniseWhole(hash, kind) ?? unsupported(explainUnsupported(hash));
  const isDivided = lineEnd.test(plain);
  const fields = plain.includes("\t") ? plain.split("\t") : [];
  return (
    oneOfSeveral(plain, kind, isDivided && anyScheme.test(plain)) ??
    onlyItem(fields, kind) ??
    (isDivided ? null : (noted(plain, kind) ?? marked(plain)))
  );
}

/** Recognises a text that is one item, or a URL that white space may divide; null for any other. */
function recogniseWhole(plain: string, kind: ItemKind | null): Recognition | null {
  const item = readItem(plain, kind);
  if (item === null) return null;
  const isSplit = item.kind === "url" && space.test(plain);
  return (isSplit ? oneOfSeveral(plain, kind, true) : null) ?? sendable(item);
}

/**
 * Recognises the item of a cell with several values (`sha256,md5,sha1`), each of which must be what
 * publishers list, the name of a kind (`SHA1:`) or, without spaces, a bare word (`192.0.2.1|8080`);
 * null for any other text, such as prose.
 *
 * @param isUrl whether the text may be one URL, whose words may look like names of files
 */
function oneOfSeveral(plain: string, kind: ItemKind | null, isUrl = false): Recognition | null {
  if (!separator.test(plain)) return null;
  const hasSpace = space.test(plain);
  const found: Recognition[] = [];
  for (const piece of plain.split(separator, mostPieces)) {
    const part = refang(strip(piece));
    if (part === "" || (!isUrl && isPlaceholder(part))) continue;
    if (part.endsWith(":") && isPublishedKind(part)) continue;
    if (part.length < shortestHash && !mark.test(part)) {
      if (hasSpace) return null;
      continue;
    }
    const recognised = recognisePlain(part, kind);
    const { item, reason } = recognised;
    if (item === null) {
      if (!isListed(reason.code) && (isUrl || reason.code !== "file_name")) return null;
    } else if (isUrl && item.kind === "domain" && hasNameOfFile(item.value)) return null;
    found.push(recognised);
  }
  return onlyOf(found);
}

/** A host without dots may be the first half of a URL. */
function isListed(code: UnsupportedCode): boolean {
  return listed.has(code) && code !== "internal_host";
}

/** Recognises the only item of several values; null if none of them is one. */
function onlyItem(values: readonly string[], kind: ItemKind | null): Recognition | null {
  return onlyOf(values.slice(0, mostPieces).map((value) => recogniseItem(value, kind)));
}

function onlyOf(recognised: readonly Recognition[]): Recognition | null {
  const found = recognised.filter(({ item }) => item !== null);
  const [first] = found;
  const others = found.filter(
    ({ item }) => item?.value !== first?.item?.value || item?.kind !== first?.item?.kind,
  );
  return others.length > 0 ? unsupported("several") : (first ?? null);
}

/** Recognises the item of a cell with a note (`192.0.2.1 (C2)`, `Ann <ann@example.com>`). */
function noted(plain: string, kind: ItemKind | null): Recognition | null {
  const parts = splitNote(plain);
  if (parts === null || parts.value === plain) return null;
  const word = recogniseWhole(parts.value, kind) ?? marked(parts.value);
  if (word === null) {
    const code = explainUnsupported(parts.value);
    return parts.isSetOff && listed.has(code) ? unsupported(code) : null;
  }
  if (word.item === null) return parts.isSetOff ? word : null;
  const { kind: found, value } = word.item;
  if (!parts.isSetOff && (found === "domain" || found === "url")) return null;
  if (found === "domain" && hasNameOfFile(value)) return null;
  return hasOtherItem(parts.note, word.item) ? unsupported("several") : word;
}

/** Recognises the item of a word with the marks of a sentence, a log or a list around it. */
function marked(word: string): Recognition | null {
  if (space.test(word)) return null;
  const whole = readWord(word);
  const found = whole ?? readInside(word);
  if (found === null) return null;
  const { item } = found;
  const isFile = whole === null && item.kind === "domain" && hasNameOfFile(item.value);
  return isFile ? null : sendable(item);
}

/** A URL that the end of a line divides is none that can be sent: which part is missing? */
function explain(plain: string): UnsupportedCode {
  const code = explainUnsupported(plain);
  return code === "url_syntax" && /[\t\n\v\f\r]/.test(plain) ? "control_character" : code;
}

const anyScheme = /^[a-z]{2,5}:/i;
const lineEnd = /[\n\v\f\r]/;
const separator = /[\s,;|，；｜、]+/;
const space = /\s/;
/** Shorter items, networks and file names have one of these. */
const mark = /[.:@]/;
const shortestHash = 25;
/** Of a longer list, the first ones tell. */
const mostPieces = 64;

function readItem(plain: string, kind: ItemKind | null): Item | null {
  return (kind === null ? null : readItemAs(kind, plain)) ?? detectItem(plain);
}

/** Whether a text is an indicator or has an item in its words, so that it names no column. */
export function holdsIndicator(text: string): boolean {
  return rateWords(text).weight === 1 || recogniseItem(text).reason?.code === "prose";
}

/** Whether a line is an item, or a list with one, without a note beside it. */
export function isItemLine(line: string): boolean {
  const plain = stripCell(refang(stripCell(line)));
  if (plain.includes("\t") || plain.length > longestText) return false;
  const recognised = recogniseWhole(plain, null) ?? oneOfSeveral(plain, null);
  return recognised !== null && recognised.item !== null;
}

/** The weight of a file name or a path. */
export const fileWeight = 0.5;

/** How much a text looks like an indicator, and the item in it. */
export interface TextRating {
  /**
   * 1 for items and for what publishers list but repute does not send (other hashes, networks, URLs of
   * internal hosts), 0.5 for file names and paths, otherwise 0.
   */
  readonly weight: number;
  readonly item: Item | null;
}

export function rateWords(text: string): TextRating {
  // Several cells, which another delimiter divides.
  if (strip(text).includes("\t")) return { weight: 0, item: null };
  const { item, reason } = recogniseItem(text);
  if (item !== null) return { weight: 1, item };
  const weight = listed.has(reason.code) ? 1 : files.has(reason.code) ? fileWeight : 0;
  return { weight, item };
}

const listed: ReadonlySet<UnsupportedCode> = new Set<UnsupportedCode>([
  "several",
  "md5",
  "sha224",
  "sha256",
  "sha384",
  "sha512",
  "cidr",
  "ip_range",
  "ip_zone",
  "ip_leading_zero",
  "wildcard",
  "url_scheme",
  "internal_host",
]);

const files: ReadonlySet<UnsupportedCode> = new Set<UnsupportedCode>(["file_name", "path"]);

/** One comparison of an observed value: `ipv4-addr:value = '…'`, `file:hashes.'SHA-1' = '…'`. */
const comparison =
  /[\w-]+:(?:[\w.[\]*-]*\.)?(?:value|hashes\.(?:'[^']*'|[\w-]+))\s*(?:=|==|IN|ISSUBSET)\s*(\('[^)]*'\)|'(?:[^'\\]|\\.)*')/g;
const pattern = /^[([\s]*[\w-]+:[\w.'[\]*-]+\s*(?:NOT\s+)?(?:!?=|[<>]|IN\b|LIKE\b|MATCHES\b|IS)/;
const text = /'((?:[^'\\]|\\.)*)'/g;

/**
 * The values that a STIX pattern compares addresses, names and hashes with; null if the text is not
 * a pattern. Names of files and the like are not among them.
 */
function patternValues(plain: string): readonly string[] | null {
  if (!plain.startsWith("[") && !plain.startsWith("(")) return null;
  if (!pattern.test(plain)) return null;
  return Array.from(plain.matchAll(comparison), ([, values = ""]) =>
    Array.from(values.matchAll(text), ([, value = ""]) => value.replaceAll(/\\(.)/g, "$1")),
  ).flat();
}

/** True for a cell without a value: nothing but white space and quotes, or a placeholder (`N/A`). */
export function isEmptyCell(text: string): boolean {
  const bare = strip(text);
  return bare === "" || isPlaceholder(bare);
}

/** Whether a stripped text stands for "no value". */
function isPlaceholder(bare: string): boolean {
  return bare.length <= longest && (words.has(bare.toLowerCase()) || marks.test(bare));
}

const words: ReadonlySet<string> = new Set(
  (
    "n/a na #n/a n.a. n/d none null nil unknown undefined nan (none) (null) (unknown) " +
    // Zeek; MySQL and PostgreSQL.
    String.raw`(empty) \n`
  ).split(" "),
);
const longest = 9;
/** Any number of question marks, or of dashes in any of Unicode's lengths. */
const marks = /^(?:\?+|[-\u2010-\u2015\u2212]+)$/;

/** The hash in a line of `sha1sum`, whose name of a file may be anything; null for any other text. */
function checksum(plain: string): string | null {
  const [, hash, name] = sumLine.exec(plain) ?? taggedSum.exec(plain) ?? [];
  const other = name === undefined ? null : readWord(name);
  return hash === undefined || (other !== null && other.item.kind !== "domain") ? null : hash;
}

const sumLine = /^\\?([\da-f]{32,128}) [ *?^U](\S.*)$/is;
const taggedSum = /^(?:md5|sha-?\d{1,3}) ?\(.*\) ?= ?([\da-f]{32,128})$/is;

/**
 * Takes apart a cell with a value and a note, words beside it; null for any other text. The note is not set
 * off if both may be one name or sentence (`Example.com Incorporated`).
 */
function splitNote(plain: string) {
  if (plain.length > longestPart) return null;
  const addressed = inAngles.exec(plain) ?? mailInParentheses.exec(plain);
  if (addressed !== null) {
    const [, before = "", value = "", behind = ""] = addressed;
    return { value, note: `${before} ${behind}`, isSetOff: true };
  }
  const [, value = "", note = ""] = firstWord.exec(plain) ?? [];
  return value === ""
    ? null
    : { value, note, isSetOff: note === "" || separated.test(value) || setOff.test(note) };
}

const longestPart = 512;
const inAngles = /^([^<>]*)<([^<>\s]+)>?([^<>]*)$/;
const mailInParentheses = /^([^()]+)[([]([^()\s]+@[^()\s]+)[)\]]()$/;
/** Behind the mark of a list, its number or a count (`uniq -c`). */
const firstWord =
  /^(?:(?:[-*•·‣]|\[[-+*!]\]|\d{1,9}[.)]?)\s+)?([^\s(|;/（［【，；｜、]+(?=[\s(|;（［【，；｜、])|\S+)(.*)$/s;
const separated = /[;:|#]$/;
const setOff = /^\s*(?:[([{<|#;:=→（［【，；｜、]|-[\s>-]|\/\/|[\d\s:./TZ+-]+$)/;

function hasOtherItem(note: string, { value }: Item): boolean {
  return note.split(betweenWords).some((word) => {
    if (!mark.test(word) && word.length < shortestHash) return false;
    const other = readWord(word)?.item ?? marked(word)?.item ?? null;
    return other !== null && other.value !== value;
  });
}

const betweenWords = /[\s,;|()<>"'[\]{}（）［］【】，；｜、]+/;

/**
 * Strips a cell (see `strip`), the marks of a list in JSON, Python or PostgreSQL, and a stray leading
 * `?`, the trace of a byte order mark written in the wrong encoding, or the mark of a list. No item
 * starts with one.
 */
function stripCell(text: string): string {
  const bare = strip(strip(text).replace(listLiteral, "$1$2"));
  return withoutBullet(
    bare.startsWith("?") ? strip(bare.replace(questionMarks, "")) || bare : bare,
  );
}

/**
 * The value after a publisher's prefix (`SHA1: …`, `IP: …`, `URL = …`), stripped and refanged; null
 * without such a prefix.
 */
function behindLabel(text: string): string | null {
  const label = labelled.exec(text);
  if (label === null) return null;
  const [, name = ""] = label;
  if (!isPublishedKind(name) && !otherLabel.test(name)) return null;
  return refang(stripCell(text.slice(label[0].length)));
}

const listLiteral = /^(?:[[({]\s*[bu]?(["'`].*["'`])[\s,]*[\])}]|\{([^{}"']*)\})$/s;
const questionMarks = /^[?\s]+/;
const otherLabel =
  /^(?:iocs?|indicators?|observables?|c2|c&c|cnc|c2 (?:server|domain|host)|from|to|cc|bcc|rcpt)$/i;
const labelled = /^([a-z][\w &./-]{0,31}?) ?[:=]\s*(?=\S)/i;
