import { detectItem } from "./detect.js";
import type { Item } from "./item.js";

/** Reads the item in a word of a cell or a text, without the marks of the sentence around it. */
export function readWord(word: string): Item | null {
  for (const spelling of wordSpellings(word)) {
    const item = detectItem(spelling);
    if (item !== null) return item;
  }
  return null;
}

/** A word without punctuation behind it, without emphasis around it, and without any mark. */
export function wordSpellings(word: string): Iterable<string> {
  if (unmarked.test(word)) return [word];
  const bare = withoutTail(word);
  const [marks = ""] = head.exec(bare) ?? [];
  const inner = bare.slice(marks.length);
  const run = marks.replace(/^[^*_~]+/, "");
  const plain = run !== "" && inner.endsWith(run) ? inner.slice(0, -run.length) : inner;
  return new Set([bare, withoutTail(plain), withoutTail(plain.replace(emphasis, ""))]);
}

/** Most words: without a mark at either end. */
const unmarked = /^[a-z\d].*[a-z\d/]$/is;
/** Bullets, emphasis, quotes and opening brackets; the dot of `*.example.com` stays. */
const head = /^[*_~:•·‣#!?>(){[-]+(?!\.)/;
const emphasis = /[*_~-]+$/;
const tail = /[.,:;!?'…。、]+$/;
const openers: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Removes the punctuation of the sentence, and closing brackets that no bracket of the word opens. */
export function withoutTail(word: string): string {
  let bare = word.replace(tail, "");
  for (;;) {
    const last = bare.at(-1) ?? "";
    const opener = openers[last];
    if (opener === undefined || bare.split(opener).length >= bare.split(last).length) return bare;
    bare = bare.slice(0, -1).replace(tail, "");
  }
}
