import { detectItem } from "../core/item/detect.js";
import { readHostname } from "../core/item/hostname.js";
import type { Item } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import { refangText } from "../core/item/refang.js";
import { wordSpellings } from "../core/item/word.js";
import { isMeant, type Mention } from "./is-meant.js";
import { endOfUrl, withoutSentence } from "./url-end.js";

/** An item and what its finder's user knows of it. The same words yield the same object. */
interface FoundItem<T> {
  readonly item: Item;
  /** As it is written. */
  readonly value: string;
  entry: T | null;
}

type OnItem<T> = (found: FoundItem<T>, line: number) => void;

/**
 * Makes a function that finds the items in whole lines of any text, defanged or not, and returns the
 * number of line ends. What is more likely a file name, a version number or code is left out: each
 * item found may cost a request. It remembers words, since most of a text are the same ones.
 */
export function itemFinder<T>(): (text: string, onItem: OnItem<T>) => number {
  const known: KnownWords<T> = new Map();
  return (text, onItem) => {
    if (known.size > mostKnown) known.clear();
    const prepared = preparedText(text);
    if (prepared.endsWith("\n")) return findItems(prepared, known, onItem);
    return findItems(`${prepared}\n`, known, onItem) - 1;
  };
}

type KnownWords<T> = Map<string, FoundItem<T> | null>;

const mostKnown = 100_000;

/** The kinds of UTF-16 units; all others are those of letters. */
const separator = 1;
const mark = 2;
const kindOf = new Uint8Array(0x1_0000);
/** Characters that end a word: JavaScript's white space, quotes, and what no item has in it. */
const separators =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" +
  "\u2028\u2029\u202f\u205f\u3000\ufeff\"'<>`|,{}\\“”‘’«»" +
  "、。．｡：，；！？（）［］｛｝「」『』【】〔〕《》〈〉｜";
for (const char of separators) kindOf[char.charCodeAt(0)] = separator;
/** Items but hashes and wallets have one of these within. */
for (const char of ".:@") kindOf[char.charCodeAt(0)] = mark;
const lineEnd = 0x0a;
/** Of letters and digits, hashes and wallets have at least as many. */
const shortestUnmarked = 25;
const unmarked = /\w{25}/;

/** Calls `onItem` with each item of a prepared text. Returns the number of line ends. */
function findItems<T>(text: string, known: KnownWords<T>, onItem: OnItem<T>): number {
  let line = 0;
  let start = 0;
  let firstMark = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = kindOf[code];
    if (kind === 0) continue;
    if (kind === mark) {
      if (firstMark < 0) firstMark = at;
      continue;
    }
    const isMarked = firstMark >= 0 && firstMark < at - 1;
    if (isMarked || at - start >= shortestUnmarked) {
      at = findInWord(text, { start, end: at, isMarked, line }, known, onItem);
    }
    if (text.charCodeAt(at) === lineEnd) line += 1;
    start = at + 1;
    firstMark = -1;
  }
  return line;
}

const url = /(?<![a-z])(?:h(?:tt|xx)ps?|ftp|wss?)\u0001?:\/\/.+$/i;
/** XML names what it is written in by a URL that nobody visits. */
const namespace = /\bxmlns(?::[\w-]+)?=["']$/;
/** A URL without a scheme that begins the word. */
const bareUrl =
  /^[([*_~>-]*(?:[a-z][\w-]*:)?(?:[^/?#:;()[\]=@.\u0001]+\u0001?\.)+[^/?#:;()[\]=@.]+(?::\d+)?\/.*[;()[\]=]/i;
/** The name of a field before an e-mail address. */
const field = /^[a-z_-]{2,}=([^=@]+)@/i;
/** A URL without a scheme, with its query; otherwise the text between brackets, `;` and `=`. */
const parts = /(?:[\w-]+\u0001?\.)+[\w-]+(?::\d+)?\/[^;()[\]=?]*\?[^;()[\]]*|[^;()[\]=]+/g;

/** Finds the items of a word. Returns its end: a URL in quotes may be longer than a word. */
function findInWord<T>(
  text: string,
  { start, end, isMarked, line }: Word,
  known: KnownWords<T>,
  onItem: OnItem<T>,
): number {
  const word = text.slice(start, end);
  if (!isMarked && !unmarked.test(word)) return end;
  const scheme = word.includes("://") ? word.search(url) : -1;
  if (scheme >= 0) {
    const at = start + scheme;
    const urlEnd = endOfUrl(text, at, end);
    const before = text.slice(Math.max(0, at - 256), at);
    const address = withoutSentence(text.slice(at, urlEnd), before).replaceAll("&amp;", "&");
    let found = known.get(address);
    if (found === undefined) {
      found = readItem(address.replaceAll(defangMark, ""));
      known.set(address, found);
    }
    if (found?.item.kind === "url" && !namespace.test(before)) onItem(found, line);
    return urlEnd;
  }
  const whole = isWhole(word) ? itemIn(word, text, start, known) : null;
  if (whole !== null) {
    onItem(whole, line);
    return end;
  }
  // matchAll would copy the expression for every word.
  parts.lastIndex = 0;
  for (let part = parts.exec(word); part !== null; part = parts.exec(word)) {
    const found = itemIn(part[0], text, start + part.index, known);
    if (found !== null) onItem(found, line);
    // Even without a URL before it, a query may name items.
    else if (part[0].includes("=")) parts.lastIndex = part.index + part[0].indexOf("=") + 1;
  }
  return end;
}

interface Word {
  readonly start: number;
  readonly end: number;
  readonly isMarked: boolean;
  readonly line: number;
}

/** Whether a word may be one item, with what otherwise separates items in it. */
function isWhole(word: string): boolean {
  if (bareUrl.test(word)) return true;
  if (!word.includes("@")) return false;
  const [, address] = field.exec(word) ?? [];
  return word.includes("=") && (address === undefined || readHostname(address) !== null);
}

const marked = /@|[^.]\.[^.]|:[^:]*:|:\/\//;
/**
 * What precedes an item: `IP:`, Squid's `HIER_DIRECT/`, `root@` of an address, the `//` of a URL that
 * has the scheme of its page.
 */
const label =
  /^(?:(?!cid:)[A-Za-z][\w-]*:(?!\/\/)|[A-Z_]{4,}\/(?=[\d.]+$)|[\w.-]+@(?=[\d.]+$)|\/\/)/;
/** Of a URL with a scheme that the service does not know, the host is looked up. */
const otherScheme = /^[a-z][\w+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]+).*$/i;
/** An address with a port as Cisco (`192.0.2.1/50000`) and BIND (`192.0.2.1#50000`) write it. */
const addressAndPort = /^(\d{1,3}(?:\.\d{1,3}){3})[/#]\d{3,5}$/;

function itemIn<T>(
  part: string,
  text: string,
  at: number,
  known: KnownWords<T>,
): FoundItem<T> | null {
  if (part.length < shortest) return null;
  if (part.length < shortestUnmarked && !marked.test(part)) return null;
  let found = known.get(part);
  if (found === undefined) {
    found = readPart(part.replaceAll(defangMark, ""));
    known.set(part, found);
  }
  if (found === null) return null;
  const { item, value } = found;
  const isDefanged = part.includes(defangMark);
  const mention: Mention = { item, value, isDefanged, text, at, end: at + part.length };
  return isMeant(mention) ? found : null;
}

function readPart<T>(part: string): FoundItem<T> | null {
  for (const bare of wordSpellings(part)) {
    const whole = addressAndPort.test(bare) ? null : readItem<T>(bare);
    if (whole !== null) return whole;
    const value = bare.replace(label, "").replace(otherScheme, "$1").replace(addressAndPort, "$1");
    const found = value === bare ? null : readItem<T>(value);
    if (found !== null) return found;
  }
  return null;
}

/** Few words are items, so the reason of the others is not asked. */
function readItem<T>(value: string): FoundItem<T> | null {
  const plain = value.replace(/^hxxp/i, "http");
  const item = detectItem(plain) === null ? null : recogniseItem(plain).item;
  return item === null ? null : { item, value, entry: null };
}

/** `a.io` and `1::2`. */
const shortest = 4;

/** Stands before a character that was defanged; no text to be searched needs it. */
const defangMark = "\u0001";

/**
 * The text with defanging undone, JSON's escapes read, and without the mail headers that name
 * servers and messages. Every line stays a line.
 */
function preparedText(text: string): string {
  const read = text.includes("\\") && isJson(text) ? text.replace(escapes, unescaped) : text;
  const bare = read.includes(":") ? read.replace(headers, onlyLineEnds) : read;
  return refangText(bare, defangMark);
}

/** Whether quotes within it are those of JSON: Windows paths have no such names and colons. */
function isJson(text: string): boolean {
  return /^\s*[[{\]}]|"\s*[:,]\s*["[{]/.test(text);
}

const escapes = /\\(?:[\\nrt/"]|u00[0-7][\da-f])/gi;

function unescaped(escape: string): string {
  const char = escape.charAt(1);
  if (char === "/" || char === '"') return char;
  if (char === "u") {
    const coded = String.fromCharCode(Number.parseInt(escape.slice(2), 16));
    return coded === "\n" ? " " : coded;
  }
  return char === "\\" ? escape : " ";
}

/**
 * Headers that name servers and messages, with their continuation lines. The first letter is looked
 * at first, since few lines are headers.
 */
const headers =
  /^(?=[racmidx])(?:(?:x-)?received:[ \t]+(?:from|by)\b|(?:message-id|in-reply-to|references|content-id):[ \t]*(?:\r?\n[ \t]+)?<|(?:dkim-signature|arc-[\w-]+|authentication-results|received-spf|x-google-[\w-]+|x-mailer):).*(?:\n[ \t]+.*)*/gim;

function onlyLineEnds(lines: string): string {
  return lines.replaceAll(/[^\n]+/g, "");
}
