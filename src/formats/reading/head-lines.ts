import { countDelimiters, delimiters } from "../csv/scan-cells.js";
import { limits } from "./limits.js";

/** The first lines of an input, without line ends. */
export interface HeadLines {
  /** Comment lines before the first line of content, without what marks them. */
  readonly comments: readonly string[];
  /** The first lines of content, no blank ones; the last is left out where it may be cut off. */
  readonly content: readonly string[];
}

/** Whether so much of an input is enough for `headLines`. */
export function settlesHead(head: Buffer): boolean {
  if (head.length >= limits.headBytes) return true;
  let lines = 0;
  for (let at = head.indexOf(lineFeed); at !== -1; at = head.indexOf(lineFeed, at + 1)) lines += 1;
  if (lines < limits.sampleLines) return false;
  // Comments do not count.
  return headLines(head, { lineEnd: "lf", comment: "#" }).content.length >= limits.sampleLines;
}

/**
 * Cuts the beginning of an input into lines.
 *
 * @param options.comment what marks a comment; null for none
 */
export function headLines(
  head: Buffer,
  options: { readonly lineEnd: LineEnd; readonly comment: string | null },
): HeadLines {
  const text = head.subarray(0, limits.headBytes).toString("utf8");
  const lines = text.split(options.lineEnd === "cr" ? /\r\n?|\n/ : /\r?\n/);
  const cutOff = head.length >= limits.headBytes && lines.length > 1;
  if (cutOff) lines.pop();
  const filled = lines.filter((line) => line.trim() !== "");
  const mark = options.comment;
  if (mark === null || isHeaderWithMark(filled, mark)) return withoutComments(filled);
  const first = filled.findIndex((line) => !line.startsWith(mark));
  const begin = first === -1 ? filled.length : first;
  return {
    comments: filled.slice(0, begin).map((line) => line.slice(mark.length).trimStart()),
    content: filled
      .slice(begin)
      .filter((line) => !line.startsWith(mark))
      .slice(0, limits.sampleLines),
  };
}

function withoutComments(lines: readonly string[]): HeadLines {
  return { comments: [], content: lines.slice(0, limits.sampleLines) };
}

/**
 * A first line such as `#,ip,count` or `#id,ip,count`, followed by data at once, is no comment but
 * names the columns: comments have a space, or nothing, behind their mark.
 */
function isHeaderWithMark([first = "", second = ""]: readonly string[], mark: string): boolean {
  if (mark !== "#" || !/^#[^\s#"]/.test(first) || second.startsWith(mark)) return false;
  return delimiters.some((delimiter) => {
    const count = countDelimiters(first, delimiter);
    return count > 0 && count === countDelimiters(second, delimiter);
  });
}

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
