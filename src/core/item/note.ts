import type { Item } from "./item.js";
import { readWord } from "./word.js";

/** A cell taken apart: what may be the item, and the words beside it. */
interface Noted {
  readonly value: string;
  readonly note: string;
  /** False if both may be one name or sentence (`Example.com Incorporated`). */
  readonly isSetOff: boolean;
}

/** The hash in a line of `sha1sum`, whose name of a file may be anything; null for any other text. */
export function checksum(plain: string): string | null {
  const [, hash, name] = sumLine.exec(plain) ?? taggedSum.exec(plain) ?? [];
  const other = name === undefined ? null : readWord(name);
  return hash === undefined || (other !== null && other.item.kind !== "domain") ? null : hash;
}

const sumLine = /^\\?([\da-f]{32,128}) [ *?^U](\S.*)$/is;
const taggedSum = /^(?:md5|sha-?\d{1,3}) ?\(.*\) ?= ?([\da-f]{32,128})$/is;

/** Takes apart a cell with a value and a note; null for any other text. */
export function splitNote(plain: string): Noted | null {
  if (plain.length > longest) return null;
  const addressed = inAngles.exec(plain) ?? mailInParentheses.exec(plain);
  if (addressed !== null) {
    const [, before = "", value = "", behind = ""] = addressed;
    return { value, note: `${before} ${behind}`, isSetOff: true };
  }
  const [, value = "", note = ""] = firstWord.exec(plain) ?? [];
  return value === ""
    ? null
    : { value, note, isSetOff: separated.test(value) || setOff.test(note) };
}

const longest = 512;
const inAngles = /^([^<>]*)<([^<>\s]+)>?([^<>]*)$/;
const mailInParentheses = /^([^()]+)[([]([^()\s]+@[^()\s]+)[)\]]()$/;
const firstWord = /^(?:[-*•·‣]\s+)?([^\s(|;/（［【，；｜、]+(?=[\s(|;（［【，；｜、])|\S+)(.*)$/s;
const separated = /[;:|]$/;
const setOff = /^\s*(?:[([{<|#;:=→（［【，；｜、]|-[\s>-]|\/\/|[\d\s:./TZ+-]+$)/;

/** Whether a note has an item other than the given one. */
export function hasOtherItem({ note }: Noted, { value }: Item): boolean {
  return note.split(betweenWords).some((word) => {
    if (!marked.test(word) && word.length < shortestUnmarked) return false;
    const found = readWord(word);
    return found !== null && found.item.value !== value;
  });
}

const betweenWords = /[\s,;|()<>"'[\]{}（）［］【】，；｜、]+/;
const marked = /[.:@]/;
/** Of letters and digits, hashes and wallets have at least as many. */
const shortestUnmarked = 25;
