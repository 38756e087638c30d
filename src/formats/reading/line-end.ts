import { limits } from "./limits.js";

/** How the lines of an input end: `lf` stands for LF and CRLF, mixed or not; `cr` for old Mac files. */
export type LineEnd = "lf" | "cr";

/** Whether the first bytes of an input settle how its lines end. */
export function settlesLineEnd(head: Buffer): boolean {
  return head.length >= limits.headBytes || head.includes(lineFeed);
}

/**
 * How lines end, by the first bytes of the input: with CR alone only where there is no LF at all,
 * so that a stray CR in a cell stays what it is.
 */
export function lineEndOf(head: Buffer): LineEnd {
  const looked = head.subarray(0, limits.headBytes);
  return looked.includes(carriageReturn) && !looked.includes(lineFeed) ? "cr" : "lf";
}

/** Line ends in a text. Where lines end with CR alone, LF and CRLF do so too. */
export function countLineEnds(text: string, lineEnd: LineEnd): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  if (lineEnd === "lf") return count;
  for (let at = text.indexOf("\r"); at !== -1; at = text.indexOf("\r", at + 1)) {
    if (text[at + 1] !== "\n") count += 1;
  }
  return count;
}

/** Whether a text ends with a line end. */
export function endsLine(text: string, lineEnd: LineEnd): boolean {
  return text.endsWith("\n") || (lineEnd === "cr" && text.endsWith("\r"));
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
