import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

/** Maximum text of a value on a terminal, in UTF-16 code units. `--json` has all of it. */
const longestValue = 2000;

/** Cuts a value that is too long for a terminal. */
export function cutLong(text: string): string {
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

/** Shortens a text to `width` columns; `…` marks the cut. */
export function shorten(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const [head] = wrapAnsi(text, width - 1, { hard: true, wordWrap: false, trim: false }).split(
    "\n",
  );
  return `${head}…`;
}

/** Wraps prose between words. Only a word that is longer than a line is split. */
export function wrapWords(text: string, width: number): readonly string[] {
  return wrapAnsi(text, width, { hard: true }).split("\n");
}
