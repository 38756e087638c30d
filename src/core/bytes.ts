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

/** A copy of a part of a text, which would keep all of the text in memory. */
export function detached(part: string): string {
  return ` ${part}`.slice(1);
}

const escapeBase = 0xdc00;

/** Valid sequences of several bytes, as Latin-1 (RFC 3629, section 4), or a single other byte. */
const sequences =
  /(?:[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2})|[\x80-\xff]/g;

function decodeEscaping(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replaceAll(sequences, (sequence) =>
      sequence.length > 1
        ? Buffer.from(sequence, "latin1").toString("utf8")
        : String.fromCharCode(escapeBase + sequence.charCodeAt(0)),
    );
}

function encodeRestoring(text: string): Buffer {
  const parts = text.split(/(\p{Cs})/u);
  return Buffer.concat(
    parts.map((part, index) => {
      const byte = part.charCodeAt(0) - escapeBase;
      const isEscaped = index % 2 === 1 && byte >= 0x80 && byte <= 0xff;
      return isEscaped ? Buffer.from([byte]) : Buffer.from(part);
    }),
  );
}
