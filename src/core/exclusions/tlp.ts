import type { FindingError } from "../finding.js";
import { itemCodes } from "../row-codes.js";

/** The marks of the Traffic Light Protocol 2.0 (FIRST), the widest sharing first. */
export const tlpMarks = ["clear", "green", "amber", "amber+strict", "red"] as const;

export type TlpMark = (typeof tlpMarks)[number];

/**
 * Reads a mark such as `TLP:AMBER`. Case, blanks and the `TLP:` don't matter; `white` of TLP 1.0 is
 * `clear`.
 *
 * @returns null for anything else
 */
export function parseTlp(text: string): TlpMark | null {
  const word = text
    .toLowerCase()
    .replace(/^\s*tlp\s*[:_-]/, "")
    .replace(/\s+/g, "")
    .replace(/^white$/, "clear")
    .replace(/^amber_?strict$/, "amber+strict");
  return tlpMarks.find((mark) => mark === word) ?? null;
}

/**
 * Why an item with these marks must not be sent; null if it may be. Of several marks the strictest
 * counts. Other tags in a list are ignored, an unknown TLP mark is not.
 *
 * @param texts the cell, or the elements of a list
 */
export function tlpFault(texts: readonly string[], most: TlpMark): FindingError | null {
  const words = texts.flatMap((text) => text.split(/[,;|\n]/)).filter((text) => text.trim() !== "");
  const isMark = (word: string): boolean => parseTlp(word) !== null || /^\s*tlp\b/i.test(word);
  const marks = words.length > 1 ? words.filter(isMark) : words;
  const known = marks.map(parseTlp);
  const isAllowed = (mark: TlpMark | null): boolean =>
    mark !== null && tlpMarks.indexOf(mark) <= tlpMarks.indexOf(most);
  if (known.length > 0 && known.every(isAllowed)) return null;
  return { code: "tlp", message: `${itemCodes.tlp[0]} (--max-tlp ${most})` };
}
