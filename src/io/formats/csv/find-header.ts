import {
  fileWeight,
  holdsIndicator,
  isEmptyCell,
  rateWords,
} from "../../../core/item/recognise.js";
import { isPublishedKind } from "../../../core/item/item.js";
import { matchColumn, minShare } from "../columns/name-columns.js";
import { columnShare, isColumnName } from "../columns/rate-columns.js";
import { limits } from "../reading/lines.js";
import type { InputReading, ReadOptions } from "../types.js";
import type { CsvRecord } from "./csv-records.js";
import type { CommentNames } from "./find-preamble.js";

/** What names the columns. `unclear`: the first record, which could as well be a row. */
export function findHeader(
  records: readonly CsvRecord[],
  comment: CommentNames | null,
  { header, itemColumn }: Pick<ReadOptions, "header" | "itemColumn">,
): InputReading["header"] | "unclear" {
  const first = records[0]?.cells;
  if (first === undefined) return "none";
  if (header !== null) return header ? "record" : "none";
  const wanted = [itemColumn ?? []].flat();
  const hasAny = (names: readonly string[]): boolean =>
    wanted.some((name) => matchColumn(names, name) !== null);
  if (hasAny(first)) return "record";
  if (comment !== null && (comment.isDeclared || hasAny(comment.names))) return "comment";
  const found = judgeFirst(records);
  return found === "record" || comment === null ? found : "comment";
}

/** What a cell of the first record says: it names its column, or it is a value. */
type Sign = "name" | "perhaps a name" | "empty" | "perhaps a value" | "a value" | "an item";

/**
 * Judges the first record by the cells below each of its own. One with an item is a row, as is one whose
 * only name may be that of a host. Otherwise it is a header if it names a column of items, unless it has a
 * date or the like where the others have one.
 */
function judgeFirst([first, ...others]: readonly CsvRecord[]): "record" | "none" | "unclear" {
  const own = first!.cells;
  const rows = others.slice(0, limits.sampleRecords).map(({ cells }) => cells);
  // Where files were joined, the header stands below, too.
  const different = rows.filter((cells) => cells.some((cell, index) => cell !== own[index]));
  const below = (index: number) => different.map((cells) => cells[index] ?? "");
  const signs = own.map((cell, index) => signOf(cell, below(index)));
  const dotted = signs.filter((sign) => sign === "perhaps a name").length;
  const isNamed = own.some((cell, at) => signs[at] === "name" && hasColumnName(cell));
  if (signs.includes("an item") || (dotted === 1 && !isNamed)) return "none";
  if (signs.every((sign) => sign === "empty")) return "none";
  const isValue = signs.includes("a value");
  if (!isValue && !signs.includes("perhaps a value")) return "record";
  const names = own.filter(
    (_, at) => signs[at]!.endsWith("name") && columnShare(below(at)).share >= minShare,
  );
  if (names.some(hasColumnName)) return isValue ? "unclear" : "record";
  return isValue || names.length === 0 ? "none" : "unclear";
}

function hasColumnName(cell: string): boolean {
  return cell.split(/[^\p{L}\p{N}]+/u).some(isColumnName);
}

function signOf(cell: string, below: readonly string[]): Sign {
  const text = cell.trim();
  if (isEmptyCell(text)) return "empty";
  if (fieldName.test(text)) return "name";
  const { weight } = rateWords(text);
  const mayBeName = below.length > 0 && dottedName.test(text);
  if (weight === 1) {
    const { share, kind } = columnShare(mayBeName ? below : []);
    return !mayBeName || (share >= minShare && kind === "domain") ? "an item" : "perhaps a name";
  }
  const isFile = (word: string): boolean => rateWords(word).weight === fileWeight;
  if (weight === fileWeight && (!mayBeName || below.some(isFile))) return "perhaps a value";
  const filled = below.filter((other) => !isEmptyCell(other));
  const areMost = (isAlike: (other: string) => boolean): boolean =>
    filled.filter(isAlike).length * 2 > filled.length;
  if (isPublishedKind(text) && areMost(isPublishedKind)) return "a value";
  if (/\d/.test(text) && areMost((other) => shapeOf(other.trim()) === shapeOf(text))) {
    return /\d\D+\d+\D+\d/.test(text) ? "a value" : "perhaps a value";
  }
  return below.includes(cell) || holdsIndicator(text) ? "perhaps a value" : "name";
}

/** Dates, times, versions and numbers of a column differ in nothing but their digits. */
function shapeOf(text: string): string {
  return text.replaceAll(/\d+(?:[.,]\d+)?/g, "9");
}

/** Field names of the Elastic Common Schema that end in a top-level domain. */
const fieldName =
  /^(?:source|destination|client|server|host|user|url|dns|email|file|observer|threat|indicator|network|agent|event|process|log|rule|data_stream)(?:\.[a-z_]+)+$/;

/** A name of a field, of a host or of a file: only the cells below it decide. */
const dottedName =
  /^[a-z_]\w*(?:\.[a-z_]\w*)*\.(?:name|id|email|domains?|info|date|city|country|zip|host|link|page|post|network|group|report|security|software|systems|computer|zone|in|is|to|url|key|service|class|log|config|db|reg|cmd)$|^s[rl]?\.no\.?$|^\$\{?\w+\}?$/i;
