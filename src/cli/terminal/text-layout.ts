const ascii = /^[\u0020-\u007E]*$/;
const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303F\uFF01-\uFF60]|\p{Emoji_Presentation}/u;
const zero = /^[\p{Mark}\u200B-\u200D\uFEFF]$/u;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Maximum text of a value on a terminal, in UTF-16 code units. `--json` has all of it. */
const longestValue = 2000;

/** Cuts a value that is too long for a terminal. */
export function cutLong(text: string): string {
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

/** Terminal columns of a line; East Asian characters and emoji take two. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (wide.test(grapheme)) return 2;
  return zero.test(grapheme) ? 0 : 1;
}

/** Shortens a text to `width` columns; `…` marks the cut. */
export function shorten(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${headOf(text, width - 1)}…`;
}

/** The longest start of a text that fits `width` columns. */
function headOf(text: string, width: number): string {
  if (ascii.test(text)) return text.slice(0, Math.max(0, width));
  let taken = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    taken += graphemeWidth(segment);
    if (taken > width) return text.slice(0, index);
  }
  return text;
}

/** Pads a text with spaces to `width` columns. */
export function pad(text: string, width: number, side: "left" | "right" = "right"): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "left" ? space + text : text + space;
}

/** Wraps prose between words. Only a word that is longer than a line is split. */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (displayWidth(line) > width) {
      const head = headOf(line, Math.max(width, 2));
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  return [...lines, line];
}
