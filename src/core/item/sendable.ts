import { unsupported } from "./detect.js";
import type { Item, Recognition, UnsupportedCode } from "./item.js";
import { hostOf, isInternalHost } from "./url.js";
import { readInside, type WrittenItem, readWord } from "./word.js";

/** Reads a refanged word of a text as a cell with nothing else; a dash before it is a list's or an option's. */
export function readSendable(word: string): WrittenItem | null {
  if (whyUnreadable(word) !== null) return null;
  const bare = word.replace(/^-+/, "");
  const found = readWord(bare) ?? readInside(bare);
  return found !== null && sendable(found.item).item !== null ? found : null;
}

export function whyUnreadable(text: string): UnsupportedCode | null {
  if (text.length > longestText) return "too_long";
  if (loneSurrogate.test(text)) return "lone_surrogate";
  return control.test(text) ? "control_character" : null;
}

/** Longer texts are not examined. Defanging lengthens an item, but never this much. */
export const longestText = 65_536;
/** Maximum length once percent-encoded: servers commonly limit the request line to 8 KiB. */
const longestSegment = 8192;
/** A Basic Multilingual Plane character is at most three bytes, each encoded as `%xx`. */
const longestEscape = 9;

/** Those but white space. */
const control = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/;
const loneSurrogate = /\p{Cs}/u;

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
