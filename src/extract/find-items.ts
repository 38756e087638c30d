import { detectItem } from "../core/item/detect.js";
import type { Item } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import { isMeant, type Mention } from "./is-meant.js";
import { defangMark, preparedText } from "./prepared-text.js";

/** Takes an item and the line it stands in, counted from 0. */
type OnItem = (item: Item, line: number) => void;

/**
 * Makes a function that finds the items in whole lines of any text, defanged or not, and returns the
 * number of line ends. What is more likely a file name, a version number or code is left out: each
 * item found may cost a request. It remembers words, since most of a text are the same ones.
 */
export function itemFinder(): (text: string, onItem: OnItem) => number {
  const known: KnownWords = new Map();
  return (text, onItem) => {
    if (known.size > mostKnown) known.clear();
    return findItems(preparedText(text), known, onItem);
  };
}

/** Words and the items that they are. */
type KnownWords = Map<string, Item | null>;

const mostKnown = 100_000;

/** The kinds of UTF-16 units; all others are those of letters. */
const separator = 1;
const mark = 2;
const kindOf = new Uint8Array(0x1_0000);
/** Characters that end a word: JavaScript's white space, quotes, and what no item has in it. */
const separators =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" +
  "\u2028\u2029\u202f\u205f\u3000\ufeff\"'<>`|,{}\\“”‘’«»";
for (const char of separators) kindOf[char.charCodeAt(0)] = separator;
/** Items but hashes and wallets have one of these within. */
for (const char of ".:@") kindOf[char.charCodeAt(0)] = mark;
const lineEnd = 0x0a;
/** Of letters and digits, hashes and wallets have at least as many. */
const shortestUnmarked = 25;
const unmarked = /\w{25}/;

/** Calls `onItem` with each item of a prepared text. Returns the number of line ends. */
function findItems(text: string, known: KnownWords, onItem: OnItem): number {
  let line = 0;
  let start = 0;
  let firstMark = -1;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : lineEnd;
    const kind = kindOf[code];
    if (kind === mark && firstMark < 0) firstMark = at;
    if (kind !== separator) continue;
    const isMarked = firstMark >= 0 && firstMark < at - 1;
    if (isMarked || at - start >= shortestUnmarked) {
      const word = text.slice(start, at);
      if (isMarked || unmarked.test(word)) {
        at = itemsOfWord(word, text, start, known, (item) => onItem(item, line));
      }
    }
    if (code === lineEnd && at < text.length) line += 1;
    start = at + 1;
    firstMark = -1;
  }
  return line;
}

const url = /(?:h(?:tt|xx)ps?|ftp|wss?):\/\/.+$/i;
const parts = /[^;()[\]=]+/g;

/** Finds the items of a word. Returns where it ends: a URL in quotes may be longer than a word. */
function itemsOfWord(
  word: string,
  text: string,
  start: number,
  known: KnownWords,
  onItem: (item: Item) => void,
): number {
  const end = start + word.length;
  const scheme = word.includes("://") ? word.search(url) : -1;
  if (scheme >= 0) {
    const at = start + scheme;
    const urlEnd = endOfUrl(text, at, end);
    const item = itemOf(withoutTail(text.slice(at, urlEnd)), known);
    if (item?.kind === "url") onItem(item);
    return urlEnd;
  }
  for (const { 0: part, index } of word.matchAll(parts)) {
    const item = itemIn(part, text, start + index, known);
    if (item !== null) onItem(item);
  }
  return end;
}

/** A URL in quotes ends with them; any other one ends with the word. */
function endOfUrl(text: string, at: number, end: number): number {
  const quote = text.charAt(at - 1);
  if (quote !== '"' && quote !== "'") return end;
  const close = text.indexOf(quote, at);
  return close > end && close - at < longestUrl && !/\s/.test(text.slice(at, close)) ? close : end;
}

const longestUrl = 8192;
const tail = /[.,:;!?*_~'…-]+$/;

/** Removes the punctuation of the sentence, and closing brackets that no bracket of the URL opens. */
function withoutTail(address: string): string {
  const bare = address.replace(tail, "");
  const last = bare.at(-1);
  const opener = last === ")" ? "(" : last === "]" ? "[" : null;
  if (opener === null) return bare;
  const isOpen = bare.split(opener).length >= bare.split(last!).length;
  return isOpen ? bare : withoutTail(bare.slice(0, -1));
}

const marked = /@|[^.]\.[^.]|:[^:]*:|:\/\//;
const head = /^[*_~:•#!?>-]+(?!\.)/;
const label = /^[a-z][\w-]*:(?!\/\/)/i;

function itemIn(part: string, text: string, at: number, known: KnownWords): Item | null {
  if (part.length < shortest) return null;
  if (part.length < shortestUnmarked && !marked.test(part)) return null;
  const bare = part.replace(head, "").replace(tail, "");
  const isDefanged = bare.includes(defangMark);
  const plain = isDefanged ? bare.replaceAll(defangMark, "") : bare;
  const whole = itemOf(plain, known);
  const value = whole === null ? plain.replace(label, "") : plain;
  const item = whole ?? (value === plain ? null : itemOf(value, known));
  if (item === null) return null;
  const mention: Mention = { item, value, isDefanged, text, at, end: at + part.length };
  return isMeant(mention) ? item : null;
}

/** `a.io` and `1::2`. */
const shortest = 4;

/** Few words are items, so the reason of the others is not asked. */
function itemOf(word: string, known: KnownWords): Item | null {
  let item = known.get(word);
  if (item !== undefined) return item;
  const plain = (word.includes(defangMark) ? word.replaceAll(defangMark, "") : word).replace(
    /^hxxp/i,
    "http",
  );
  item = detectItem(plain) === null ? null : recogniseItem(plain).item;
  known.set(word, item);
  return item;
}
