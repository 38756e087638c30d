/**
 * Reads a SHA1 hash: 40 hex digits, given lower case. `sha1:` in front of it is dropped.
 *
 * @returns the normal form, or null when the text is no SHA1 hash
 */
export function readSha1(text: string): string | null {
  if (text.length === digits) return isHex(text) ? text.toLowerCase() : null;
  if (text.length > digits + longestLabel || !label.test(text)) return null;
  const hash = text.replace(label, "");
  return hash.length === digits && isHex(hash) ? hash.toLowerCase() : null;
}

/** True when the text is hex digits only, or empty. */
export function isHex(text: string): boolean {
  return /^[\da-f]*$/i.test(text);
}

const digits = 40;
const longestLabel = 7;
const label = /^sha-?1: ?/i;
