/**
 * Takes away what surrounds a value in a cell and is no part of it: white space (also zero-width
 * and directional marks, which spreadsheets and web pages add), quotes, angle brackets, and commas
 * behind it. Returns the same string when there is nothing to take. Linear time.
 */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && surrounds(text.charCodeAt(start))) start++;
  while (end > start && (text.charCodeAt(end - 1) === comma || surrounds(text.charCodeAt(end - 1))))
    end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** White space as `String.prototype.trim` knows it, and the marks that show as nothing. */
export function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202f) ||
    (code >= 0x205f && code <= 0x2064) ||
    code === 0x3000 ||
    code === 0xfeff
  );
}

const comma = 0x2c;
const quotesAndAngles = new Set(Array.from("\"'`<>“”„‟‘’‚‛«»‹›", (char) => char.charCodeAt(0)));

function surrounds(code: number): boolean {
  // Letters and digits, by far the most frequent at either end, leave by the first comparison.
  if (code > 0x60 && code < 0x80) return false;
  return isSpace(code) || quotesAndAngles.has(code);
}
