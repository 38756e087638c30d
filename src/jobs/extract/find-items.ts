import { refangText } from "../../core/item/refang.js";
import {
  defangMark,
  findInWord,
  type KnownWords,
  type OnItem,
  type Search,
  shortestUnmarked,
} from "./find-in-word.js";
import { plainText } from "./plain-text.js";
import { separators } from "./url-end.js";

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
