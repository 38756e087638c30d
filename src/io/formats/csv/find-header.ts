import {
  fileWeight,
  holdsIndicator,
  isEmptyCell,
  isItemLine,
  rateWords,
} from "../../../core/item/recognise.js";
import { isPublishedKind } from "../../../core/item/item.js";
import { strip } from "../../../core/item/refang.js";
import { cutOff } from "../../../core/wording/printable.js";
import { matchColumn, minShare } from "../columns/name-columns.js";
import { columnShare, isColumnName } from "../columns/rate-columns.js";
import { limits } from "../reading/lines.js";
import { cellsOfLine, countDelimiters, type Delimiter, type HeadLines } from "../reading/sample.js";
import type { InputReading, ReadOptions } from "../types.js";
import type { CsvRecord } from "./csv-records.js";

/** Finds the delimiter, and lines before the header: titles, dates, rules. */
export function findPreamble(
  lines: HeadLines,
  candidates: readonly Delimiter[],
  options: Pick<ReadOptions, "header" | "itemColumn">,
) {
  const { content, before } = lines;
  const fields = fieldsIn(lines.comments);
  const separated = [...candidates, " "].find(
    (delimiter) => fields?.names.length === cellsOf(content[0] ?? "", delimiter).length,
  );
  const table =
    separated === undefined
      ? tableIn(lines, candidates, options)
      : { first: 0, delimiter: separated };
  const rest = content.slice(table.first);
  const [, second = ""] = rest;
  const below = options.header !== false && isRule(second) ? second.trim() : null;
  const skipped = [...lines.skipped, ...content.slice(0, table.first)];
  return {
    /** Lines before the header or the first row that belong to neither. */
    skippedLines: skipped.length > 0 ? (before[table.first] ?? 0) : 0,
    /** Their text, and that of the rule below the header. */
    skipped: below === null ? skipped : [...skipped, below],
    rule: below,
    content: below === null ? rest : rest.toSpliced(1, 1),
    delimiter: table.delimiter,
  };
}

/** The first line of a table, and its delimiter. */
function tableIn(
  { content, before }: HeadLines,
  candidates: readonly Delimiter[],
  { header, itemColumn }: Pick<ReadOptions, "header" | "itemColumn">,
): { readonly first: number; readonly delimiter: Delimiter | null } {
  const named = [itemColumn ?? []].flat();
  const isHeader = (cells: readonly string[]): boolean =>
    named.some((name) => matchColumn(cells, name) !== null) ||
    (cells.length === 1 && isColumnName(strip(cells[0]!)));
  for (const delimiter of header === false ? [] : candidates) {
    const first = firstRecord(content, before, delimiter);
    if (content.slice(0, first).some((line) => isHeader(cellsOf(line, delimiter)))) continue;
    if (first > 0 && sniffDelimiter(content.slice(first), candidates) === delimiter) {
      return { first, delimiter };
    }
  }
  return { first: 0, delimiter: sniffDelimiter(content, candidates) };
}

/**
 * The first line with as many cells as most lines have. The lines before it are skipped if a blank
 * line or a rule follows them. Those that are next to it must be a single cell above a header: a
 * short first record is no title.
 *
 * @returns its index; 0 if nothing is skipped
 */
function firstRecord(
  lines: readonly string[],
  before: readonly number[],
  delimiter: Delimiter,
): number {
  const cells = lines.map((line) => cellsOf(line, delimiter));
  const counts = lines.map((line, index) =>
    cells[index]!.length < 2 ? 0 : countDelimiters(line, delimiter),
  );
  const width = mostFrequent(counts.filter((count) => count > 0));
  const first = counts.indexOf(width);
  const preamble = lines.slice(0, Math.max(0, first));
  if (preamble.length === 0 || preamble.some((line) => isOfTable(line, delimiter))) return 0;
  if (counts.slice(0, first).some((count) => count > width)) return 0;

  const isBreak = (index: number): boolean =>
    index >= 0 && (rule.test(lines[index]!) || before[index]! + 1 < before[index + 1]!);
  const isApart = isBreak(first - 1);
  if (!isApart) {
    const isHeader = !cells[first]!.some(holdsIndicator);
    let title = first - 1;
    while (title >= 0 && !isBreak(title) && counts[title] === 0) title -= 1;
    if (!isHeader || (title >= 0 && !isBreak(title))) return 0;
  }
  const ofWidth = counts.filter((count) => count === width).length;
  return isApart || ofWidth > 1 ? first : 0;
}

/** Dashes and the like, or Excel's `sep=;`. */
const rule = /^\s*(?:[-=_*#~+]{3,}|sep=.)\s*$/i;

/** The cells of a line up to the last one that is not empty. */
function cellsOf(line: string, delimiter: Delimiter): readonly string[] {
  const cells = cellsOfLine(line, delimiter);
  return cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== "") + 1);
}

/** Whether a line has an indicator, or a quoted cell that continues on the next line. */
function isOfTable(line: string, delimiter: Delimiter): boolean {
  const cells = cellsOf(line, delimiter);
  return (
    cells.some((cell) => rateWords(cell).weight === 1) || (line.split('"').length - 1) % 2 === 1
  );
}

/** The most frequent of some numbers, the largest one if there are several; 0 for none. */
function mostFrequent(numbers: readonly number[]): number {
  const frequency = (number: number): number => numbers.filter((other) => other === number).length;
  const [first = 0] = numbers.toSorted((a, b) => frequency(b) - frequency(a) || b - a);
  return first;
}

/**
 * Detects the delimiter of these lines: the first of `candidates` that separates all of them. If
 * several do (`a;b` in every line's cells), the first that yields a column of indicators.
 * @returns null if none separates them
 */
function sniffDelimiter(
  lines: readonly string[],
  candidates: readonly Delimiter[],
): Delimiter | null {
  const records = joinQuoted(lines.filter((line) => !isRule(line) && !footer.test(line))).map(
    (record) => record.replaceAll(quotation, '""'),
  );
  const throughout = candidates.filter((delimiter) => separates(records, delimiter));
  const [first = null, second] = throughout;
  if (second === undefined) return first;
  return throughout.find((delimiter) => hasIndicators(records, delimiter)) ?? first;
}

/** A quoted part of a cell, such as the browser in a log of requests. What is in it separates nothing. */
const quotation = /(?<=[^\s,;|] )"(?:[^"\\]|\\.)*"/g;

/** What psql and mysql write below a table. */
const footer = /^\(?\d+ rows?(?: in set.*)?\)?\s*$/;

/** Joins lines that share a quoted cell. An unclosed quote is text. */
function joinQuoted(lines: readonly string[]): readonly string[] {
  const records: string[] = [];
  let open: string[] = [];
  for (const line of lines) {
    const quotes = line.split('"').length - 1;
    if (open.length === 0 && quotes % 2 === 0) records.push(line);
    else open.push(line);
    if (open.length > 1 && quotes % 2 === 1) {
      records.push(open.join("\n"));
      open = [];
    }
  }
  return [...records, ...open];
}

/** The first line contains it, nearly all lines do, and half of them equally often. */
function separates(lines: readonly string[], delimiter: Delimiter): boolean {
  // A filter list: `||example.com^`.
  if (delimiter === "|" && lines.some((line) => line.startsWith("||"))) return false;
  const counts = lines.map((line) => countDelimiters(line, delimiter));
  // A list of items may have a comma after each.
  const isSingle = (line: string): boolean => cellsOf(line, delimiter).length < 2;
  if ((counts[0] ?? 0) === 0 || lines.every(isSingle)) return false;
  const having = counts.filter((count) => count > 0);
  if (having.length < counts.length * nearlyAll) return false;
  // Lines that are items as a whole, such as URLs with commas, must all agree.
  if (lines.every(isItemLine)) {
    return lines.length > 1 && counts.every((count) => count === counts[0]);
  }
  return having.some((n) => having.filter((count) => count === n).length * 2 >= counts.length);
}

const nearlyAll = 0.8;

function hasIndicators(lines: readonly string[], delimiter: Delimiter): boolean {
  const records = lines.map((line) => cellsOfLine(line, delimiter));
  const width = Math.max(...records.map((cells) => cells.length));
  return Array.from({ length: width }).some(
    (_, index) => columnShare(records.map((cells) => cells[index] ?? "")).share >= minShare,
  );
}

/** Dashes, also in cells: `|---|:--:|`, `|:-|-:|`, `----+----`, `---~---`. */
const ruleOfCells = /^(?=.*(?:-{3}|={3}|\|\s*(?::-|-+:)))[-=+:|,;~^*/\s]+$/;

export function isRule(line: string): boolean {
  return ruleOfCells.test(line);
}

interface CommentNames {
  readonly names: readonly string[];
  readonly comment: string;
  /** Whether a `#Fields` line says so, so that the first record is no header. */
  readonly isDeclared: boolean;
}

/** The names in a line `#Fields: …` of a log in W3C's extended format or `#fields …` of Zeek. */
function fieldsIn(comments: readonly string[]): CommentNames | null {
  const comment = comments.find((line) => fieldsLine.test(line));
  if (comment === undefined) return null;
  const names = comment.replace(fieldsLine, "").trim().split(/\s+/);
  return { names, comment, isDeclared: true };
}

const fieldsLine = /^(?:fields\t|Fields:\s*)(?=.)/;

/**
 * The names that comments give the columns of a table: those of a `#Fields` line, else those of the
 * nearest comment with as many.
 *
 * @returns null without names for `width` cells
 */
export function namesIn(
  comments: readonly string[],
  delimiter: Delimiter,
  width: number,
): CommentNames | null {
  const fields = fieldsIn(comments);
  if (fields?.names.length === width) return fields;
  if (width < 2) return null;
  for (const comment of comments.toReversed()) {
    const names = cellsOfLine(comment, delimiter).map((name) => name.trim());
    const isHeader = names.length === width && !names.some((name) => rateWords(name).weight === 1);
    if (isHeader) return { names, comment, isDeclared: false };
  }
  return null;
}

/** What an input's reading says of lines that belong to no row. */
export function skippedIn(
  texts: readonly string[],
  lines = texts.length,
): Pick<InputReading, "skipped"> {
  const text = cutOff(texts.map((line) => line.trim()).join(" / "), 120);
  return lines === 0 ? {} : { skipped: { lines, text } };
}

/** What names the columns. `unclear`: the first record, which could as well be a row. */
export function findHeader(
  records: readonly CsvRecord[],
  comment: CommentNames | null,
  { header, itemColumn }: Pick<ReadOptions, "header" | "itemColumn">,
): InputReading["header"] | "unclear" {
  const first = records[0]?.cells;
  if (first === undefined) return "none";
  if (header !== undefined) return header ? "record" : "none";
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
