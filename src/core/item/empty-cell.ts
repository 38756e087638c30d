import { strip } from "./refang.js";

/** True for a cell without a value: nothing but white space and quotes, or a placeholder (`N/A`). */
export function isEmptyCell(text: string): boolean {
  const bare = strip(text);
  return bare === "" || isPlaceholder(bare);
}

/** Whether a stripped text stands for "no value". */
export function isPlaceholder(bare: string): boolean {
  return bare.length <= longest && (words.has(bare.toLowerCase()) || marks.test(bare));
}

const words: ReadonlySet<string> = new Set(
  (
    "n/a na #n/a n.a. n/d none null nil unknown undefined nan (none) (null) (unknown) " +
    // Zeek; MySQL and PostgreSQL.
    String.raw`(empty) \n`
  ).split(" "),
);
const longest = 9;
/** Any number of question marks, or of dashes in any of Unicode's lengths. */
const marks = /^(?:\?+|[-\u2010-\u2015\u2212]+)$/;
