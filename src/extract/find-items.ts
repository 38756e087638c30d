import { detectItem } from "../core/item/detect.js";
import type { Item } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import { isMeant, type Mention } from "./is-meant.js";
import { defangMark, preparedText } from "./prepared-text.js";

/** An item in a text. */
export interface FoundItem {
  readonly item: Item;
  /** Counted from 0, within the text. */
  readonly line: number;
}

/**
 * Makes a function that finds the items in whole lines of any text, defanged or not. What is more
 * likely a file name, a version number or code is left out: each item found may cost a request. It
 * remembers words, since most of a text are the same ones.
 */
export function itemFinder(): (text: string) => readonly FoundItem[] {
  const known: KnownWords = new Map();
  return (text) => {
    if (known.size > mostKnown) known.clear();
    return findItems(text, known);
  };
}

/** Words and the items that they are. */
type KnownWords = Map<string, Item | null>;

const mostKnown = 100_000;

function findItems(text: string, known: KnownWords): readonly FoundItem[] {
  const prepared = preparedText(text);
  const found: FoundItem[] = [];
  let line = 0;
  let lineEnd = prepared.indexOf("\n");
  for (const { item, at } of itemsIn(prepared, known)) {
    while (lineEnd >= 0 && lineEnd < at) {
      line += 1;
      lineEnd = prepared.indexOf("\n", lineEnd + 1);
    }
    found.push({ item, line });
  }
  return found;
}

/** Runs of characters of which items consist. URLs may have commas, but only within quotes. */
const words = /[^\s"'<>`|,{}\\“”‘’«»]+/y;
const separator = /[\s"'<>`|,{}\\“”‘’«»]/;
const marked = /@|[^.]\.[^.]|:[^:]*:|:\/\//;
const shortestUnmarked = 25;
/** What an item has in it; most words of a text have none of these. */
const marks = /\.[^\s.]|@|:(?:\/\/|[^\s:]*:)|\b\w{25}/g;
const url = /(?:h(?:tt|xx)ps?|ftp|wss?):\/\/.+$/i;
const parts = /[^;()[\]=]+/g;

function* itemsIn(
  text: string,
  known: KnownWords,
): Generator<{ readonly item: Item; readonly at: number }> {
  let end = 0;
  marks.lastIndex = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    words.lastIndex = wordStart(text, mark.index, end);
    const match = words.exec(text);
    end = Math.max(words.lastIndex, mark.index + 1);
    marks.lastIndex = end;
    if (match === null) continue;
    const [word] = match;
    const start = word.includes("://") ? word.search(url) : -1;
    if (start >= 0) {
      const at = match.index + start;
      end = endOfUrl(text, at, end);
      marks.lastIndex = end;
      const item = itemOf(withoutTail(text.slice(at, end)), known);
      if (item?.kind === "url") yield { item, at };
      continue;
    }
    // matchAll would copy the expression for every word.
    parts.lastIndex = 0;
    for (let part = parts.exec(word); part !== null; part = parts.exec(word)) {
      const at = match.index + part.index;
      const item = itemIn(part[0], text, at, known);
      if (item === null) continue;
      const next = parts.lastIndex;
      yield { item, at };
      parts.lastIndex = next;
    }
  }
}

/** Where the word begins that has a mark at an index. */
function wordStart(text: string, mark: number, least: number): number {
  let start = mark;
  while (start > least && !isSeparator(text, start - 1)) start -= 1;
  return start;
}

function isSeparator(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Most characters are letters and digits.
  const isPlain = (code > 0x60 && code < 0x7b) || (code > 0x2c && code < 0x3b);
  return !isPlain && separator.test(text.charAt(at));
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
