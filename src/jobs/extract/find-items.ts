import { detached } from "../../core/bytes.js";
import { countLineEnds } from "../../io/formats/reading/sample.js";
import { readHostname } from "../../core/item/hostname.js";
import { refangText, replaceAtBackslashes } from "../../core/item/refang.js";
import {
  readAlone,
  readWord,
  sendable,
  withoutTail,
  type WrittenItem,
} from "../../core/item/word.js";
import { isAlone, judgeWord } from "./is-meant.js";

/**
 * Makes a function that finds the items in whole lines of any text, defanged or not, and returns the
 * number of line ends. What is more likely a file name, a version number or code is left out: each
 * item found may cost a request. It remembers words, since most of a text are the same ones.
 */
export function itemFinder<T>(): (
  text: string,
  onItem: OnItem<T>,
  onLeftOut?: (word: string) => void,
) => number {
  const known: KnownWords<T> = new Map();
  return (text, onItem, onLeftOut = () => {}) => {
    if (known.size > mostKnown) known.clear();
    const prepared = refangText(plainText(text), defangMark);
    let line = 0;
    let counted = 0;
    const lineAt = (at: number): number => {
      line += countLineEnds(prepared.slice(counted, at), "lf");
      counted = at;
      return line;
    };
    const onFound: Search<T>["onItem"] = (found, at) => onItem(found, lineAt(at));
    findItems({ text: prepared, known, onItem: onFound, onLeftOut });
    return lineAt(prepared.length);
  };
}

const mostKnown = 100_000;

/** An item and what its finder's user knows of it. The same words yield the same object. */
interface FoundItem<T> extends WrittenItem {
  entry: T | null;
  readonly isMeant: ReturnType<typeof judgeWord>;
}

type OnItem<T> = (found: FoundItem<T>, line: number) => void;
type KnownWords<T> = Map<string, FoundItem<T> | null>;

/** A text with defanging undone, and what to do with the items in it. */
interface Search<T> {
  readonly text: string;
  readonly known: KnownWords<T>;
  /** Called with each item, and where its word begins. */
  readonly onItem: (found: FoundItem<T>, at: number) => void;
  /** Called with an item of an internal host, and with what is rather a file, a version or code. */
  readonly onLeftOut: (word: string) => void;
}

/**
 * Characters that end a word: JavaScript's white space, quotes, punctuation of Chinese and Japanese,
 * and what no item has in it.
 */
const separators =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" +
  "\u2028\u2029\u202f\u205f\u3000\ufeff\"'<>`|,{}\\“”„‟‘’‚‛«»‹›" +
  "、。．｡､：，；！？（）［］｛｝「」『』｢｣【】〔〕《》〈〉・｜";

const inWord = `[^${separators.replace("\\", "\\\\")}]`;
/**
 * What a word may have an item for: a dot, colon or at sign within, or enough letters and digits for a
 * hash or wallet. Then the word around it: dots, colons and at signs are few, so they are looked for first.
 */
const candidate = new RegExp(`(?:[.:@](?=${inWord})|\\b\\w{25})(?<=(${inWord}+))(${inWord}*)`, "g");

function findItems<T>(search: Search<T>): void {
  let read = 0;
  for (;;) {
    candidate.lastIndex = read;
    const found = candidate.exec(search.text);
    if (found === null) return;
    const [, before = "", after = ""] = found;
    const end = candidate.lastIndex;
    const start = Math.max(read, end - before.length - after.length);
    read = findInWord(search, { start, end }) + 1;
  }
}

interface Word {
  readonly start: number;
  readonly end: number;
}

/** Stands before a character that was defanged; no text to be searched needs it. */
const defangMark = "\u0001";
/** Hashes and wallets have at least as many letters and digits. */
const unmarked = /\w{25}/;

const url = /(?<![a-z])(?:h(?:tt|xx)ps?|ftp|wss?)\u0001?:\/\/.+$/i;
/** XML names what it is written in by a URL that nobody visits. */
const namespace = /\bxmlns(?::[\w-]+)?=["']$/;
const isNamespace = (before: string): boolean => before.at(-2) === "=" && namespace.test(before);
/** A URL without a scheme that begins the word. */
const bareUrl =
  /^[([*_~>-]*(?:[a-z][\w-]*:)?(?:(?:[^/?#:;()[\]=@.\u0001]+\u0001?\.)+[^/?#:;()[\]=@.]+|\[[\da-f:.\u0001]+\])(?::\d+)?(?:\/.|\?[\w-]+=)/i;
const brackets = /[;()[\]=]/;
/** What may divide a word: it holds several items, or one with words beside it. */
const dividers = /[;()[\]=^$#]/;
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
function findInWord<T>(search: Search<T>, found: Word): number {
  const { text } = search;
  const { end } = found;
  const start = startOfWord(text, found);
  const word = text.slice(start, end);
  const isOne =
    !unspaced.test(word) ||
    (isAlone({ text, at: start, end }) && itemIn(word, start, search) !== null);
  if (isOne) return findInPiece(search, { start, end }, word);
  let read = start;
  let from = start;
  for (const piece of word.split(scriptChange)) {
    const to = from + piece.length;
    if (from >= read) read = findInPiece(search, { start: from, end: to }, piece);
    from = to;
  }
  return Math.max(read, end);
}

/**
 * Where a word begins: an apostrophe within the name of a mailbox (`o'neil@`) encloses nothing, but may end a
 * French article (`l'info@`).
 */
function startOfWord(text: string, { start, end }: Word): number {
  if (!/['’]/.test(text.charAt(start - 1)) || !/^[^@]+@/.test(text.slice(start, end))) return start;
  const [name = ""] = beforeApostrophe.exec(text.slice(Math.max(0, start - 64), start)) ?? [];
  const isOpened = /['’]/.test(text.charAt(start - name.length - 1));
  const isClosed = /^['’](?!\w)/.test(text.slice(end, end + 2));
  return isOpened === isClosed ? start - name.length : start;
}

const beforeApostrophe = /(?:(?<![\w.%+-])(?!(?:[cdjlmnst]|\w*qu)['’])[\w.%+-]+['’])+$/i;

function findInPiece<T>(search: Search<T>, found: Word, word: string): number {
  const { start, end } = found;
  const { text, known, onItem, onLeftOut } = search;
  const scheme = word.includes("://") ? word.search(url) : -1;
  if (scheme >= 0) {
    const at = start + scheme;
    const urlEnd = endOfUrl(text, at, end);
    const before = text.slice(Math.max(0, at - 256), at);
    const written = withoutSentence(text.slice(at, urlEnd), before);
    const read = knownItem(before.endsWith("|") ? written.replace(ruleEnd, "") : written, known);
    if (read?.item.kind !== "url" || isNamespace(before)) return urlEnd;
    if (read.isMeant === false) onLeftOut(read.value);
    else onItem(read, start);
    return urlEnd;
  }
  if (word.includes("/") && continued.test(text.charAt(end)) && bareUrl.test(word)) {
    const urlEnd = endOfUrl(text, start, end);
    const address = urlEnd > end ? itemIn(text.slice(start, urlEnd), start, search) : null;
    if (address !== null) {
      onItem(address, start);
      return urlEnd;
    }
  }
  const isDivided = dividers.test(word);
  const whole = !isDivided || isWhole(word) ? itemIn(word, start, search) : null;
  if (whole !== null) onItem(whole, start);
  if (whole === null && isDivided) findInParts(search, found, word);
  return end;
}

function findInParts<T>(search: Search<T>, { start }: Word, word: string): void {
  const shown = word.includes("#") ? word.replace(hidden, "") : word;
  const pieces = namesBetweenSlashes.test(shown) ? names : parts;
  // matchAll would copy the expression for every word.
  pieces.lastIndex = 0;
  for (let part = pieces.exec(shown); part !== null; part = pieces.exec(shown)) {
    const found = itemIn(part[0], start + part.index, search);
    if (found !== null) search.onItem(found, start);
    // Even without a URL before it, a query may name items.
    else if (part[0].includes("=")) pieces.lastIndex = part.index + part[0].indexOf("=") + 1;
  }
}

/** Whether a word may be one item, with what otherwise separates items in it. */
function isWhole(word: string): boolean {
  // Several of them separate fields, as in HL7.
  if (/(?<![\w.%+$^-])[\w.%+-]+[$^][\w.%+-]+@[^$^]+$/.test(word)) return true;
  if (!brackets.test(word)) return false;
  if (bareUrl.test(word)) return true;
  if (!word.includes("@")) return false;
  const [, address] = field.exec(word) ?? [];
  return word.includes("=") && (address === undefined || readHostname(address) !== null);
}

/** Items but hashes and wallets have an at sign, an ending, four numbers or the colons of IPv6. */
const marked =
  /@|\.(?:[a-z\u0080-\uffff][\w\u0080-\uffff-]|\d{1,3}\u0001?\.\d{1,3}\u0001?\.\d)|:\u0001?:|(?:\u0001?:[\da-f.]+){7}/i;

function itemIn<T>(part: string, at: number, search: Search<T>): FoundItem<T> | null {
  const { text, known, onLeftOut } = search;
  if (part.length < shortest) return null;
  if (!marked.test(part) && !unmarked.test(part)) return null;
  const found = knownItem(part, known);
  if (found === null) return null;
  const { isMeant, value } = found;
  const place = { text, at, end: at + part.length };
  if (typeof isMeant === "boolean" ? isMeant : isMeant(place)) return found;
  if (!unspecified.test(value)) onLeftOut(value);
  return null;
}

/** `a.io` and `1::2`. */
const shortest = 4;

function knownItem<T>(word: string, known: KnownWords<T>): FoundItem<T> | null {
  const seen = known.get(word);
  if (seen !== undefined) return seen;
  const copy = detached(word);
  const found = readItem<T>(copy);
  known.set(copy, found);
  return found;
}

function readItem<T>(word: string): FoundItem<T> | null {
  const reading = readAlone(word.replaceAll(defangMark, ""));
  const code = reading === null ? null : sendable(reading.item).reason?.code;
  if (reading === null || code === "too_long") return null;
  const { item, value } = reading;
  if (code !== undefined) return { item, value: item.value, entry: null, isMeant: false };
  return { item, value, entry: null, isMeant: judgeWord(reading, word.includes(defangMark)) };
}

/** Masks, and what lists of hosts say instead of an address. */
const unspecified = /^(?:0|255)\.|\.0\.0$/;

/**
 * Where a URL in a text ends.
 *
 * A URL in quotes ends with them. Any other one ends with its word; but a comma, a bar or an
 * apostrophe within it belongs to it unless it separates cells, items or quotes.
 *
 * @param at where it begins
 * @param end where its word ends
 */
function endOfUrl(text: string, at: number, end: number): number {
  const before = text.charAt(at - 1);
  if (before === '"' || before === "'") {
    const close = text.indexOf(before, at);
    const isQuoted = close > end && close - at < longest && !/\s/.test(text.slice(at, close));
    return isQuoted ? close : end;
  }
  userBehindHost.lastIndex = end;
  if (userBehindHost.test(text)) return endOfSentenceUrl(text, userBehindHost.lastIndex);
  const word = text.slice(at, end);
  const next = nextItem(word);
  if (next > 0) return at + next;
  return continued.test(text.charAt(end)) && pathOf.test(word) && !isCell(text, at)
    ? endOfSentenceUrl(text, end)
    : end;
}

/** Whether a URL is a cell of a table: a separator precedes it, or a line beside its own has one. */
function isCell(text: string, at: number): boolean {
  if (/[,;|=] *$/.test(text.slice(Math.max(0, at - 3), at))) return true;
  if (at > 0 && !/[\n\r]/.test(text.charAt(at - 1))) return false;
  const before = text.slice(Math.max(0, at - longestCell), Math.max(0, at - 1));
  const behind = text.slice(at, at + longestCell);
  return /[,|][^\n\r]*$/.test(before) || /^[^\n\r]*\r?[\n\r][^\n\r]*?[,|]/.test(behind);
}

const longest = 8192;
/** Looks like a user name before the host, but browsers read the backslash as a slash. */
const userBehindHost = new RegExp(
  `\\\\+(?<=://[^\\s/?#]{1,256})(?:(?![/?#])${inWord})*@${inWord}*`,
  "y",
);
const pathOf = /[^/?#:][/?#]/;
const longestCell = 512;
/** Ends a word, but perhaps not a URL. */
const continued = /[,|']/;

/** Where another item follows behind a semicolon or, without a blank, another URL; -1 if nowhere. */
function nextItem(word: string): number {
  for (let at = word.indexOf(";"); at > 0; at = word.indexOf(";", at + 1)) {
    const piece = word.slice(at + 1).split(";", 1)[0] ?? "";
    if (scheme.test(piece) || (/[.:@]/.test(piece) && readWord(piece) !== null)) return at;
  }
  return -1;
}

const scheme = /^h(?:tt|xx)ps?:\/\//i;

function endOfSentenceUrl(text: string, wordEnd: number): number {
  let end = wordEnd;
  for (;;) {
    within.lastIndex = end;
    const more = within.exec(text)?.[0];
    if (more === undefined) return end;
    const piece = more.slice(1);
    if (more.startsWith(",") || more.startsWith("|")) {
      if (scheme.test(piece) || readWord(piece) !== null) return end;
    }
    end += more.length;
  }
}

/** A separator of words and what follows it at once. */
const within = new RegExp(`[,|'][\\w%/?&=#~+-]${inWord}*`, "y");

/**
 * A URL without the punctuation of the sentence.
 *
 * @param before the line up to the URL, whose emphasis (`__`) may end with it
 */
function withoutSentence(url: string, before: string): string {
  const bare = withoutTail(url);
  const mark = emphases.has(bare.at(-1)) ? emphasis.exec(bare)?.[0] : undefined;
  if (mark === undefined) return bare;
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const isOpen = line.split(mark).length % 2 === 0;
  return isOpen ? withoutTail(bare.slice(0, -mark.length)) : bare;
}

const emphases: ReadonlySet<string | undefined> = new Set("*_~");
const emphasis = /(?:\*+|_+|~+)$/;

/**
 * The text with escapes read, and without the mail headers that name servers and messages. Every line
 * stays a line.
 */
function plainText(text: string): string {
  let read = text;
  if (text.includes("\\")) {
    if (jsonQuotes.test(text)) read = replaceAtBackslashes(read, escapes, unescaped);
    read = replaceAtBackslashes(read, codes, decoded);
  }
  return read.includes(":") ? read.replace(headers, onlyLineEnds) : read;
}

/** Printable characters and quotes, as JSON and JavaScript write them, also within another JSON text. */
const codes = /(?<!\\)\\+(?:(?:u00|x)([2-7][\da-f])|(?="))/iy;

function decoded([, code]: RegExpExecArray): string {
  return code === undefined ? "" : String.fromCharCode(Number.parseInt(code, 16));
}

/** Quotes as in JSON: Windows paths have no such names and colons. */
const jsonQuotes = /^\s*[[{\]}]|"\s*[:,]\s*["[{]/;

const escapes = /\\(?:[\\nrt/"]|u00[0-7][\da-f])/iy;

function unescaped([escape]: RegExpExecArray): string {
  const char = escape.charAt(1);
  if (char === "/" || char === '"') return char;
  if (char === "u") {
    const coded = String.fromCharCode(Number.parseInt(escape.slice(2), 16));
    return coded === "\n" ? " " : coded;
  }
  return char === "\\" ? escape : " ";
}

/**
 * Headers that name servers and messages, from the colon on, with their continuation lines. The colon
 * is looked for first, since few characters are colons.
 */
const headers =
  /:(?:(?<=^(?:x-)?received:)(?=[ \t]+(?:from|by)\b)|(?<=^(?:message-id|in-reply-to|references|content-id):)(?=[ \t]*(?:\r?\n[ \t]+)?<)|(?<=^(?:dkim-signature|arc-[\w-]+|authentication-results|received-spf|x-google-[\w-]+|x-mailer):)).*(?:\n[ \t]+.*)*/gim;

function onlyLineEnds(lines: string): string {
  return "\n".repeat(lines.split("\n").length - 1);
}
