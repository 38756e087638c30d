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
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const decimal = code >= 0x30 && code <= 0x39;
    const letter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x66;
    if (!decimal && !letter) return false;
  }
  return true;
}

const digits = 40;
const longestLabel = 7;
const label = /^sha-?1: ?/i;
