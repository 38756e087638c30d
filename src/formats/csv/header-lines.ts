import { indicatorWeight } from "../../core/item/recognise.js";
import { type Delimiter, scanCells } from "../reading/scan-cells.js";

/** Dashes, also in cells: `|---|:--:|`, `----+----`. */
const ruleOfCells = /^(?=.*(?:-{3}|={3}))[-=+:|,;\s]+$/;

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
  const [, names] =
    comments.map((line) => /^(?:fields\t|Fields:\s*)(.+)$/.exec(line)).find(Boolean) ?? [];
  return names?.trim().split(/\s+/);
}

export interface CommentNames {
  readonly names: readonly string[];
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
  if (fields?.length === width) return { names: fields, isDeclared: true };
  if (width < 2) return null;
  const names = comments
    .toReversed()
    .map((line) => scanCells(line, { delimiter, spaced: true }).cells.map((name) => name.trim()))
    .find((cells) => cells.length === width && !cells.some((cell) => indicatorWeight(cell) === 1));
  return names === undefined ? null : { names, isDeclared: false };
}
