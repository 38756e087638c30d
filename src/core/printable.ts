/**
 * Characters that steer a terminal (C0, DEL and C1 controls, ESC among them) or reorder what it
 * shows (bidirectional controls, UAX #9; line and paragraph separators). Not the line feed.
 */
const steering =
  "\\u0000-\\u0009\\u000B-\\u001F\\u007F-\\u009F\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069";

const inText = new RegExp(`[${steering}]`, "g");
const inData = new RegExp(`(?!\\t|\\r\\n)[${steering}]`, "g");

/**
 * Makes a text of other people safe to show in a message or a cell: what would steer the terminal
 * stands there as `<U+202E>`, a tab as a space.
 */
export function printable(text: string): string {
  return text.replaceAll("\t", " ").replaceAll(inText, codePoint);
}

/** The same for rows that go to a terminal: tabs and line ends are theirs. */
export function printableData(text: string): string {
  return text.replaceAll(inData, codePoint);
}

function codePoint(character: string): string {
  return `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
