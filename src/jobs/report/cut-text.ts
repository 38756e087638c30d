import { formatCount } from "../../core/text/quantity.js";

/** Cuts a text that is too long to show, and says how long it was. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = copied(text.slice(0, most).replace(/[\uD800-\uDBFF]$/, ""));
  return `${start}… (${formatCount(text.length)} characters)`;
}

/** The same text in memory of its own: V8 keeps a text as long as a part of it. */
function copied(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

/** The first names of a list and how many more there are, each short enough to show. */
export function cutList(names: readonly string[], most: number): readonly string[] {
  const shown = names.slice(0, most).map((name) => cutText(name, longestName));
  const more = names.length - shown.length;
  return more > 0 ? [...shown, `and ${formatCount(more)} more`] : shown;
}

export const longestName = 120;
