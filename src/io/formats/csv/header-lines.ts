import { indicatorWeight } from "../../../core/item/recognise.js";
import { type Delimiter, scanCells } from "../reading/scan-cells.js";

/** Dashes, also in cells: `|---|:--:|`, `|:-|-:|`, `----+----`. */
const ruleOfCells = /^(?=.*(?:-{3}|={3}|\|\s*(?::-|-+:)))[-=+:|,;\s]+$/;

export function isRule(line: string): boolean {
  return ruleOfCells.test(line);
}

/** Whether a record is a rule as `isRule` knows it. */
export function isRuleRecord(cells: readonly string[]): boolean {
  return isRule(cells.join("|"));
}

/**
 * The names in a line `#Fields: …` of a log in W3C's extended format or `#fields …` of Zeek, without
 * its mark; undefined without such a line.
 */
export function fieldsIn(comments: readonly string[]): readonly string[] | undefined {
  return comments
    .find((line) => fieldsLine.test(line))
    ?.replace(fieldsLine, "")
    .trim()
    .split(/\s+/);
}

const fieldsLine = /^(?:fields\t|Fields:\s*)(?=.)/;

export interface CommentNames {
  readonly names: readonly string[];
  /** The comment, without its mark. */
  readonly comment: string;
  /** Whether a `#Fields` line says so, so that the first record is no header. */
  readonly isDeclared: boolean;
}

/**
 * The names that comments give the columns of a table: those of a `#Fields` line, else those of the
 * nearest comment with as many.
 *
 * @returns null if there are none for so many cells
 */
export function namesIn(
  comments: readonly string[],
  delimiter: Delimiter,
  width: number,
): CommentNames | null {
  const fields = fieldsIn(comments);
  if (fields?.length === width) {
    const comment = comments.find((line) => fieldsLine.test(line))!;
    return { names: fields, comment, isDeclared: true };
  }
  if (width < 2) return null;
  for (const comment of comments.toReversed()) {
    const { cells } = scanCells(comment, { delimiter, spaced: true });
    const names = cells.map((name) => name.trim());
    const isHeader = names.length === width && !names.some((name) => indicatorWeight(name) === 1);
    if (isHeader) return { names, comment, isDeclared: false };
  }
  return null;
}
