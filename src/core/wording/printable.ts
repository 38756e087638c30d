/** Wraps a paragraph at `width` characters; a longer word gets its own line. */
export function wrapText(text: string, width: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join("\n");
}

/**
 * Wraps the lines of a message between words; continued lines are indented by two more spaces. A word
 * longer than a line stays whole, so that a terminal can copy it.
 *
 * @param hanging spaces before continued lines instead
 */
export function wrapLines(text: string, width: number, hanging?: number): string {
  const lines = text.split("\n").flatMap((line) => {
    if (line.length <= width) return [line];
    const [margin = ""] = /^ */.exec(line) ?? [];
    const indent = " ".repeat(hanging ?? margin.length + 2);
    const [head = "", ...rest] = wrapText(line.slice(margin.length), width - indent.length).split(
      "\n",
    );
    const wrapped = [margin + head, ...rest.map((next) => indent + next.trimStart())];
    return wrapped.map((next, at) => (at === rest.length ? next : next.trimEnd()));
  });
  return lines.join("\n");
}

/**
 * A text beside its label, with every line from `column` on; below a label that is too long. Lines
 * wrap between words at `width`.
 */
export function labelledText(label: string, text: string, column: number, width: number): string {
  const margin = " ".repeat(column);
  const lines = text
    .split("\n")
    .map((line) => wrapText(line, width - column))
    .join("\n");
  const head = label.length + 2 > column ? `${label}\n${margin}` : label.padEnd(column);
  return head + lines.replaceAll("\n", `\n${margin}`);
}

/** Width below which texts go below their labels. */
export const narrow = 60;

/**
 * Labels with their texts, in one or more lines, beside them or, if `width` is small, below. Without
 * a text, a label is left out.
 */
export function labelled(
  entries: readonly (readonly [label: string, text: string | readonly string[]])[],
  width: number,
  margin = "",
): string {
  const shown = entries.filter(([, text]) => text.length > 0);
  const widest = width < narrow ? 0 : Math.max(...shown.map(([label]) => label.length));
  const column = margin.length + widest + 2;
  return shown
    .map(([label, text]) => labelledText(margin + label, [text].flat().join("\n"), column, width))
    .join("\n");
}

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

/** The beginning of a text that is too long to show. */
export function cutOff(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** A foreign text in quotes, cut off. */
export function quoted(text: string, longest = 100): string {
  return JSON.stringify(cutOff(text, longest));
}
