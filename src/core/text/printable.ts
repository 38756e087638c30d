/**
 * Characters that control a terminal (C0, DEL and C1 controls, including ESC) or reorder its text
 * (bidirectional controls, UAX #9; line and paragraph separators). Excludes the line feed.
 */
const steering =
  "\\u0000-\\u0009\\u000B-\\u001F\\u007F-\\u009F\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069";

const inText = new RegExp(`[${steering}]`, "g");
const inData = new RegExp(`(?!\\t|\\r\\n)[${steering}]`, "g");

/**
 * Makes foreign text safe to show in a message or cell: control characters become `<U+202E>`, a tab
 * becomes a space.
 */
export function printable(text: string): string {
  return text.replaceAll("\t", " ").replaceAll(inText, codePoint);
}

/** Same as `printable`, on one line: a line break of a service's text could forge a line of ours. */
export function oneLine(text: string): string {
  return printable(text).replaceAll("\n", codePoint);
}

/** Same as `printable`, but keeps tabs and line ends, for rows printed on a terminal. */
export function printableData(text: string): string {
  return text.replaceAll(inData, codePoint);
}

function codePoint(character: string): string {
  return `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
