import { refangText } from "../../core/item/refang.js";
import {
  defangMark,
  findInWord,
  type KnownWords,
  type OnItem,
  type Search,
  shortestUnmarked,
  separators,
} from "./find-in-word.js";

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
    const isEnded = prepared.endsWith("\n");
    const block = isEnded ? prepared : `${prepared}\n`;
    const lineEnds = findItems({ text: block, known, onItem, onLeftOut });
    return isEnded ? lineEnds : lineEnds - 1;
  };
}

const mostKnown = 100_000;

/** The kinds of UTF-16 units; all others are those of letters. */
const separator = 1;
const mark = 2;
const divider = 3;
const kindOf = new Uint8Array(0x1_0000);
for (const char of separators) kindOf[char.charCodeAt(0)] = separator;
/** Items but hashes and wallets have one of these within. */
for (const char of ".:@") kindOf[char.charCodeAt(0)] = mark;
/** What may divide a word: it holds several items, or one with words beside it. */
for (const char of ";()[]=^$#") kindOf[char.charCodeAt(0)] = divider;
kindOf.fill(divider, 0x3005, 0x3008).fill(divider, 0x3040, 0x3100);
kindOf.fill(divider, 0x3400, 0xa000).fill(divider, 0xac00, 0xd7b0);
const lineEnd = 0x0a;
/** Calls `onItem` with each item of a prepared text. Returns the number of line ends. */
function findItems<T>(search: Search<T>): number {
  const { text } = search;
  let line = 0;
  let start = 0;
  let firstMark = -1;
  let isDivided = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = kindOf[code];
    if (kind === 0) continue;
    if (kind === mark) {
      if (firstMark < 0) firstMark = at;
      continue;
    }
    if (kind === divider) {
      isDivided = true;
      continue;
    }
    const isMarked = firstMark >= 0 && firstMark < at - 1;
    if (isMarked || at - start >= shortestUnmarked) {
      at = findInWord(search, { start, end: at, isMarked, isDivided, line });
    }
    if (text.charCodeAt(at) === lineEnd) line += 1;
    start = at + 1;
    firstMark = -1;
    isDivided = false;
  }
  return line;
}

/**
 * The text with escapes read, and without the mail headers that name servers and messages. Every line
 * stays a line.
 */
function plainText(text: string): string {
  let read = text;
  if (text.includes("\\")) {
    if (isJson(text)) read = read.replace(escapes, unescaped);
    if (coded.some((start) => read.includes(start))) read = read.replace(codes, decoded);
  }
  return read.includes(":") ? read.replace(headers, onlyLineEnds) : read;
}

/** Printable characters and quotes, as JSON and JavaScript write them, also within another JSON text. */
const codes = /\\+(?:(?:u00|x)([2-7][\da-f])|(?="))/gi;

const coded = ['\\"', "\\u00", "\\U00", "\\x", "\\X"];

function decoded(_: string, code?: string): string {
  return code === undefined ? "" : String.fromCharCode(Number.parseInt(code, 16));
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
 * Headers that name servers and messages, from the colon on, with their continuation lines. The colon
 * is looked for first, since few characters are colons.
 */
const headers =
  /:(?:(?<=^(?:x-)?received:)(?=[ \t]+(?:from|by)\b)|(?<=^(?:message-id|in-reply-to|references|content-id):)(?=[ \t]*(?:\r?\n[ \t]+)?<)|(?<=^(?:dkim-signature|arc-[\w-]+|authentication-results|received-spf|x-google-[\w-]+|x-mailer):)).*(?:\n[ \t]+.*)*/gim;

function onlyLineEnds(lines: string): string {
  return "\n".repeat(lines.split("\n").length - 1);
}
