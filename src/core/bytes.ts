import { isUtf8 } from "node:buffer";

/**
 * Decodes bytes so that `encodeText` restores them exactly, valid UTF-8 or not.
 *
 * Each byte outside valid UTF-8 becomes a lone surrogate, U+DC80 for 0x80 to U+DCFF for 0xFF (the
 * "surrogateescape" of Python's PEP 383). Valid UTF-8 never contains lone surrogates, so the mapping
 * is unambiguous. A byte order mark is kept.
 */
export function decodeBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString("utf8") : decodeEscaping(bytes);
}

/** Encodes text as UTF-8 and restores bytes that `decodeBytes` escaped; other lone surrogates become U+FFFD. */
export function encodeText(text: string): Buffer {
  return isWellFormed(text) ? Buffer.from(text, "utf8") : encodeRestoring(text);
}

/**
 * Whether a text has no lone surrogates: the bytes it was decoded from were valid UTF-8.
 *
 * Node.js 20 has ES2024's `String.prototype.isWellFormed`; the ES2023 type library doesn't declare it.
 */
export function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

/** Replaces lone surrogates with U+FFFD, so that UTF-8 can hold the text. */
export function toWellFormed(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed();
}

const escapeBase = 0xdc00;
/** Code units per call of `String.fromCharCode`, to protect the stack. */
const unitsAtOnce = 8192;

function decodeEscaping(bytes: Buffer): string {
  const units = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at]!;
    const size = sequenceLength(bytes, at, lead);
    if (size === 0) {
      units[length++] = escapeBase + lead;
      at += 1;
    } else if (size === 1) {
      units[length++] = lead;
      at += 1;
    } else {
      const sequence = bytes.toString("utf8", at, at + size);
      for (let i = 0; i < sequence.length; i++) units[length++] = sequence.charCodeAt(i);
      at += size;
    }
  }
  const parts: string[] = [];
  for (let at = 0; at < length; at += unitsAtOnce) {
    parts.push(String.fromCharCode(...units.subarray(at, Math.min(length, at + unitsAtOnce))));
  }
  return parts.join("");
}

/** Length of the valid UTF-8 sequence that starts at `at`; 0 if there is none. */
function sequenceLength(bytes: Buffer, at: number, lead: number): number {
  if (lead < 0x80) return 1;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (size === 0 || at + size > bytes.length) return 0;
  return isUtf8(bytes.subarray(at, at + size)) ? size : 0;
}

function encodeRestoring(text: string): Buffer {
  // UTF-8 needs at most three bytes per code unit (four for a surrogate pair).
  const bytes = Buffer.allocUnsafe(text.length * 3);
  let length = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    if (unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      at += 1;
      continue;
    }
    length += bytes.write(text.slice(start, at), length, "utf8");
    if (unit >= escapeBase + 0x80 && unit <= escapeBase + 0xff) {
      bytes[length++] = unit - escapeBase;
    } else {
      length += bytes.write("\ufffd", length, "utf8");
    }
    start = at + 1;
  }
  length += bytes.write(text.slice(start), length, "utf8");
  return bytes.subarray(0, length);
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
