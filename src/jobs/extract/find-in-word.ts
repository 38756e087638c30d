import { readHostname } from "../../core/item/hostname.js";
import { readSendable } from "../../core/item/sendable.js";
import type { WrittenItem } from "../../core/item/word.js";
import { isMeant } from "./is-meant.js";
import { isAlone } from "./surroundings.js";
import { continued, endOfUrl, withoutSentence } from "./url-end.js";

/** An item and what its finder's user knows of it. The same words yield the same object. */
interface FoundItem<T> extends WrittenItem {
  entry: T | null;
}

export type OnItem<T> = (found: FoundItem<T>, line: number) => void;
export type KnownWords<T> = Map<string, FoundItem<T> | null>;

/** A text with defanging undone, and what to do with the items in it. */
export interface Search<T> {
  readonly text: string;
  readonly known: KnownWords<T>;
  readonly onItem: OnItem<T>;
  /** Called with what is rather a file, a version or code than the item that it may be read as. */
  readonly onLeftOut: (word: string) => void;
}

/** Stands before a character that was defanged; no text to be searched needs it. */
export const defangMark = "\u0001";
/** Of letters and digits, hashes and wallets have at least as many. */
export const shortestUnmarked = 25;
const unmarked = /\w{25}/;

const url = /(?<![a-z])(?:h(?:tt|xx)ps?|ftp|wss?)\u0001?:\/\/.+$/i;
/** XML names what it is written in by a URL that nobody visits. */
const namespace = /\bxmlns(?::[\w-]+)?=["']$/;
/** A URL without a scheme that begins the word. */
const bareUrl =
  /^[([*_~>-]*(?:[a-z][\w-]*:)?(?:(?:[^/?#:;()[\]=@.\u0001]+\u0001?\.)+[^/?#:;()[\]=@.]+|\[[\da-f:.\u0001]+\])(?::\d+)?(?:\/.|\?[\w-]+=)/i;
const divider = /[;()[\]=]/;
/** The name of a field before an e-mail address. */
const field = /^[a-z_-]{2,}=([^=@]+)@/i;
/** A URL without a scheme, with its query; otherwise the text between brackets, `;`, `=`, `^`, `$`. */
const parts =
  /(?:[\w-]+\u0001?\.)+[\w-]+(?::\d+)?(?:\/[^;()[\]=?]*)?\?[\w-]+=[^;()[\]]*|[^;()[\]=^$]+/g;
/** An option of dnsmasq, whose value is a list of names between slashes. */
const namesBetweenSlashes = /^(?:address|server|local|rev-server|ipset|nftset)=\//;
const names = /[^/=]+/g;
/** Letters that are written without blanks beside Latin ones, so that they may begin or end a word. */
const unspaced = /[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
/** Where such a letter meets another one. */
const scriptChange =
  /(?<=[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[a-z\d])|(?<=[a-z\d])(?=[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])/i;
/** What a rule of an ad blocker hides in the pages of a site. */
const hidden = /#[@?$]?#.*$/s;
/** How such a rule ends a URL. */
const ruleEnd = /\^(?:\$.*)?$/;

/** Finds the items of a word. Returns its end: a URL in quotes may be longer than a word. */
export function findInWord<T>(search: Search<T>, found: Word): number {
  const { start, end, isMarked, isDivided } = found;
  const word = search.text.slice(start, end);
  if (!isMarked && !unmarked.test(word)) return end;
  if (!isDivided || !unspaced.test(word)) return findInPiece(search, found, word);
  const isWhole = isAlone({ text: search.text, at: start, end });
  if (isWhole && itemIn(word, start, search) !== null) return findInPiece(search, found, word);
  let read = start;
  let from = start;
  for (const piece of word.split(scriptChange)) {
    const to = from + piece.length;
    if (from >= read) read = findInPiece(search, { ...found, start: from, end: to }, piece);
    from = to;
  }
  return Math.max(read, end);
}

function findInPiece<T>(search: Search<T>, found: Word, word: string): number {
  const { start, end, line, isDivided } = found;
  const { text, known, onItem } = search;
  const scheme = word.includes("://") ? word.search(url) : -1;
  if (scheme >= 0) {
    const at = start + scheme;
    const urlEnd = endOfUrl(text, at, end);
    const before = text.slice(Math.max(0, at - 256), at);
    const written = withoutSentence(text.slice(at, urlEnd), before);
    const address = before.endsWith("|") ? written.replace(ruleEnd, "") : written;
    let read = known.get(address);
    if (read === undefined) {
      read = readItem(address);
      known.set(address, read);
    }
    if (read?.item.kind === "url" && !namespace.test(before)) onItem(read, line);
    return urlEnd;
  }
  if (word.includes("/") && continued.test(text.charAt(end)) && bareUrl.test(word)) {
    const urlEnd = endOfUrl(text, start, end);
    const address = itemIn(text.slice(start, urlEnd), start, search);
    if (address !== null) {
      onItem(address, line);
      return urlEnd;
    }
  }
  const whole = !isDivided || isWhole(word) ? itemIn(word, start, search) : null;
  if (whole !== null) onItem(whole, line);
  if (whole === null && isDivided) findInParts(search, found, word);
  return end;
}

function findInParts<T>(search: Search<T>, { start, line }: Word, word: string): void {
  const shown = word.includes("#") ? word.replace(hidden, "") : word;
  const pieces = namesBetweenSlashes.test(shown) ? names : parts;
  // matchAll would copy the expression for every word.
  pieces.lastIndex = 0;
  for (let part = pieces.exec(shown); part !== null; part = pieces.exec(shown)) {
    const found = itemIn(part[0], start + part.index, search);
    if (found !== null) search.onItem(found, line);
    // Even without a URL before it, a query may name items.
    else if (part[0].includes("=")) pieces.lastIndex = part.index + part[0].indexOf("=") + 1;
  }
}

interface Word {
  readonly start: number;
  readonly end: number;
  readonly isMarked: boolean;
  /** Whether a character in it may divide items. */
  readonly isDivided: boolean;
  readonly line: number;
}

/** Whether a word may be one item, with what otherwise separates items in it. */
function isWhole(word: string): boolean {
  if (!divider.test(word)) return false;
  if (bareUrl.test(word)) return true;
  if (!word.includes("@")) return false;
  const [, address] = field.exec(word) ?? [];
  return word.includes("=") && (address === undefined || readHostname(address) !== null);
}

const marked = /@|[^.]\.[^.]|:[^:]*:|:\/\//;
function itemIn<T>(
  part: string,
  at: number,
  { text, known, onLeftOut }: Search<T>,
): FoundItem<T> | null {
  if (part.length < shortest) return null;
  if (part.length < shortestUnmarked && !marked.test(part)) return null;
  let found = known.get(part);
  if (found === undefined) {
    found = readItem(part);
    known.set(part, found);
  }
  if (found === null) return null;
  const { item, value } = found;
  const isDefanged = part.includes(defangMark);
  const mention = { item, value, isDefanged, text, at, end: at + part.length };
  if (isMeant(mention)) return found;
  if (!unspecified.test(value)) onLeftOut(value);
  return null;
}

function readItem<T>(word: string): FoundItem<T> | null {
  const reading = readSendable(word.replaceAll(defangMark, ""));
  return reading === null ? null : { ...reading, entry: null };
}

/** Masks, and what lists of hosts say instead of an address. */
const unspecified = /^(?:0|255)\.|\.0\.0$/;

/** `a.io` and `1::2`. */
const shortest = 4;
