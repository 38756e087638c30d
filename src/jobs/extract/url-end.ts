import { readWord, withoutTail } from "../../core/item/word.js";

/**
 * Characters that end a word: JavaScript's white space, quotes, punctuation of Chinese and Japanese,
 * and what no item has in it.
 */
export const separators =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" +
  "\u2028\u2029\u202f\u205f\u3000\ufeff\"'<>`|,{}\\“”„‟‘’‚‛«»‹›" +
  "、。．｡､：，；！？（）［］｛｝「」『』｢｣【】〔〕《》〈〉・｜";
const inWord = `[^${separators.replace("\\", "\\\\")}]`;

/**
 * Where a URL in a text ends.
 *
 * A URL in quotes ends with them. Any other one ends with its word; but a comma, a bar or an
 * apostrophe within it belongs to it unless it separates cells, items or quotes.
 *
 * @param at where it begins
 * @param end where its word ends
 */
export function endOfUrl(text: string, at: number, end: number): number {
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
export const continued = /[,|']/;

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
export function withoutSentence(url: string, before: string): string {
  const bare = withoutTail(url);
  const mark = emphasis.exec(bare)?.[0];
  if (mark === undefined) return bare;
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const isOpen = line.split(mark).length % 2 === 0;
  return isOpen ? withoutTail(bare.slice(0, -mark.length)) : bare;
}

const emphasis = /(?:\*+|_+|~+)$/;
