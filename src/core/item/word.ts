import { isWellFormed } from "../bytes.js";
import { detectItem, unsupported } from "./detect.js";
import type { Item, Recognition, UnsupportedCode } from "./item.js";
import { fangedScheme } from "./refang.js";
import { hostOf, isInternalHost } from "./url.js";

/** An item and what it was read from: the word without the marks of the sentence around it. */
export interface WrittenItem {
  readonly item: Item;
  readonly value: string;
}

/** Reads the item in a word of a cell or a text, without the marks of the sentence around it. */
export function readWord(word: string): WrittenItem | null {
  for (const spelling of wordSpellings(word)) {
    const value = fangedScheme(spelling);
    const item = detectItem(value);
    if (item !== null) return { item, value };
  }
  return null;
}

/**
 * Reads the item that a word holds together with what a log or a list has beside it: the name of a field
 * (`dst=192.0.2.1`; Excel keeps the text of `="192.0.2.1"`), a user (`root@192.0.2.1`), a password (`ann@example.com:…`), the marks of a rule
 * (`||example.com^`) or of a link, a comment (`example.com#note`), a scheme that the service does not
 * know (`sftp://example.com/`) or that of a page (`//example.com/a`).
 */
export function readInside(word: string, depth = mostNested): WrittenItem | null {
  if (depth === 0 || !divided.test(word)) return null;
  for (const spelling of wordSpellings(word)) {
    for (const form of forms) {
      const value = form.exec(spelling)?.[1];
      const found = value === undefined ? null : (readWord(value) ?? readInside(value, depth - 1));
      if (found !== null) return found;
    }
  }
  return null;
}

/** Forms in one another, as in `x=jndi:ldap://192.0.2.1/`: a field, a name and a scheme. */
const mostNested = 3;
const divided = /[:/@=|^(#]/;
const forms = [
  /^(?!(?:mailto|h(?:tt|xx)ps?|ftp|wss?):)[a-z][\w+.-]*:\/\/(?:[^/?#]*@)?([^/?#@]+)/i,
  /^\/\/(.+)$/,
  /^[^/@]+@([\d.]+(?::\d+)?)$/,
  /^((?!git@)[^\s:@]+@[^\s:@]+):[^/]+$/,
  /^(?!cid:|[\da-f]{1,4}:)[a-z][\w-]*:(?!\/\/|:)(.+)$/i,
  /^[\w.-]*=["']?(.+)$/,
  /^[A-Z_]{4,}\/([\d.]+)$/,
  /^([^\s/?#@]+)#/,
  /^(?:@@)?\|\|([^/^|$]+)\^(?:\$.*)?$/,
  /^(?:\((?:\^\|\\?\.|\\?\.\|\^)\)|\^)([^|()]+?)\$?$/,
  /^!?\[[^[\]]*\]\(([^()]+)\)$/,
];

/** The spellings of a word to try: without punctuation behind it, emphasis around it, or any mark. */
function wordSpellings(word: string): readonly string[] {
  if (unmarked.test(word)) return [word];
  const bare = withoutTail(word.replace(wideBrackets, ""));
  const [marks = ""] = head.exec(bare) ?? [];
  const inner = bare.slice(marks.length);
  const run = marks.replace(/^[^*_~]+/, "");
  const plain = run !== "" && inner.endsWith(run) ? inner.slice(0, -run.length) : inner;
  return [...new Set([bare, withoutTail(plain), withoutTail(plain.replace(emphasis, ""))])];
}

/** Most words: without a mark at either end. */
const unmarked = /^[a-z\d].*[a-z\d/]$/is;
/** Bullets, emphasis, the `>` of a quotation and opening brackets. `*.example.com`, `[::1]` and `::1` stay whole. */
const head = /^(?:[*_~•·‣#!?>(){-]|\[(?![\da-f]*:[\da-f:.]*\])|(?<!:):(?!:))+(?!\.)/i;
const wideBrackets = /^[（［｛【]+/;
const emphasis = /[*_~-]+$/;
const tail: ReadonlySet<string> = new Set(".,:;!?'…。、）］｝】");
const openers: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Removes the punctuation of the sentence, and closing brackets that no bracket of the word opens. */
export function withoutTail(word: string): string {
  for (let end = word.length; ; end--) {
    const last = word.charAt(end - 1);
    if (tail.has(last)) continue;
    const bare = word.slice(0, end);
    const opener = openers[last];
    if (opener === undefined || bare.split(opener).length >= bare.split(last).length) return bare;
  }
}

/** Reads a refanged word of a text as a cell with nothing else. */
export function readAlone(word: string): WrittenItem | null {
  if (whyUnreadable(word) !== null) return null;
  const bare = withoutBullet(word);
  return readWord(bare) ?? readInside(bare);
}

/** Removes a bullet, or the `-` or `+` of an option or a patch, right before the item. */
export function withoutBullet(text: string): string {
  return bullet.test(text) ? text.replace(bullet, "") : text;
}

const bullet =
  /^(?:[-•·‣◦∙▪▫■□●○◆◇►▶▸→⇒➔➜➢➤✓✔✗✘]|\+(?!\S*@))+(?=[\da-z\u00aa-\u1fff\u2c00-\uffff[])/i;

export function whyUnreadable(text: string): UnsupportedCode | null {
  if (text.length > longestText) return "too_long";
  // Few texts have any of these, so pairs of surrogates are not looked for in others.
  if (!controlOrSurrogate.test(text)) return null;
  return control.test(text) || !isWellFormed(text) ? "control_character" : null;
}

/** Longer texts are not examined. Defanging lengthens an item, but never this much. */
export const longestText = 65_536;
/** Maximum length once percent-encoded: servers commonly limit the request line to 8 KiB. */
const longestSegment = 8192;
/** A Basic Multilingual Plane character is at most three bytes, each encoded as `%xx`. */
const longestEscape = 9;

/** Control characters but white space. */
const control = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/;
const controlOrSurrogate = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ud800-\udfff]/;

/** An item, unless it is too long or of an internal host. */
export function sendable(item: Item): Recognition {
  if (isTooLong(item.value)) return unsupported("too_long");
  const host = item.kind === "ip" ? null : hostOf(item);
  if (host !== null && isInternalHost(host)) return unsupported("internal_host");
  return { item, reason: null };
}

function isTooLong(value: string): boolean {
  return (
    value.length * longestEscape > longestSegment &&
    encodeURIComponent(value).length > longestSegment
  );
}
