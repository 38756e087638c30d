import {
  isEmptyCell,
  fileWeight,
  rateWords,
  type TextRating,
} from "../../../core/item/recognise.js";
import { isBogon } from "../../../core/item/ip.js";
import {
  isPublishedKind,
  type Item,
  type ItemKind,
  parseKindName,
} from "../../../core/item/item.js";
import { hasNameOfFile } from "../../../core/item/detect.js";
import type { ColumnSample, RatedColumn } from "../types.js";
import { strip } from "../../../core/item/refang.js";

/** A column (or a dotted path in NDJSON) and its cells in the first records. */
export interface SampledColumn {
  readonly name: string;
  readonly cells: SampledCells;
  readonly neighbours: readonly number[];
}

/** The sampled cells of a column, one per record; null for values that aren't text. */
export type SampledCells = readonly (string | null)[];

/** Whether an exclusion list holds an item back. */
export type IsHeld = (item: Item) => boolean;

/**
 * Rates the columns of an input. Under a usual name, a cell that a neighbour labels with a published
 * kind (`user_account`, `tool`) counts as an indicator, whatever it contains.
 */
export function rateColumns(
  columns: readonly SampledColumn[],
  isHeld: IsHeld = () => false,
): readonly RatedColumn[] {
  return columns.map(({ name, cells, neighbours }, index) => {
    const isUsual = customaryItemColumns.includes(strip(name).toLowerCase());
    const labels = isUsual ? neighbours.map((n) => columns[n]!.cells) : [];
    const ratings = cells.map(ratingOf);
    const isOpen = !isUsual && parseKindName(name) === null;
    const ofFiles =
      isOfFiles(name) || (isOpen && ratings.some(({ weight }) => weight === fileWeight));
    const sample = sampleOf(cells, ofFiles ? ratings.map(asName) : ratings, labels, isHeld);
    return { name, index, sample, ...(ofFiles && { ofFiles }) };
  });
}

export function columnShare(cells: SampledCells): ColumnSample {
  return sampleOf(cells, cells.map(ratingOf), [], () => false);
}

function sampleOf(
  cells: SampledCells,
  ratings: readonly TextRating[],
  labels: readonly SampledCells[],
  isHeld: IsHeld,
): ColumnSample {
  let filled = 0;
  let indicators = 0;
  let sum = 0;
  let queryable = 0;
  const kinds = new Map<ItemKind, number>();
  cells.forEach((cell, row) => {
    if (cell !== null && isEmptyCell(cell)) return;
    filled += 1;
    const { weight, item } = ratings[row]!;
    if (item !== null && isPublic(item) && !isHeld(item)) {
      queryable += 1;
      kinds.set(item.kind, (kinds.get(item.kind) ?? 0) + 1);
    }
    const isLabelled =
      cell !== null && labels.some((column) => isPublishedKind(column[row]?.trim() ?? ""));
    if (weight > 0 || isLabelled) indicators += 1;
    sum += isLabelled ? 1 : weight;
  });
  const [most] = [...kinds].toSorted(([, a], [, b]) => b - a);
  return {
    cells: filled,
    indicators,
    share: filled === 0 ? 0 : sum / filled,
    queryable: cells.length === 0 ? 0 : queryable / cells.length,
    kind: most?.[0] ?? null,
  };
}

/** Longer cells are prose or file contents. */
const maxCellLength = 8192;

function asName(rating: TextRating): TextRating {
  const { item } = rating;
  const isName = item?.kind === "domain" && hasNameOfFile(item.value);
  return isName ? { weight: fileWeight, item: null } : rating;
}

function ratingOf(cell: string | null): TextRating {
  return cell === null || cell.length > maxCellLength ? { weight: 0, item: null } : rateWords(cell);
}

/**
 * Whether an item is a reason to choose its column: addresses in reserved ranges are answered without
 * a request. Those for documentation and benchmarks stand for public ones, in rehearsals.
 */
export function isPublic({ kind, value }: Item): boolean {
  return kind !== "ip" || standIn.test(value) || !isBogon(value);
}

/** RFC 5737, RFC 2544 (198.18.0.0/15), RFC 3849. */
const standIn = /^(?:192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|198\.1[89]\.|2001:db8:)/;

/** Customary names of item columns. The first one that holds indicators is used. */
export const customaryItemColumns = ["item", "indicator", "ioc", "value", "data"];

/** Whether a text names an item column or a kind: `ip` above addresses is a header. */
export function isColumnName(text: string): boolean {
  return customaryItemColumns.includes(text.toLowerCase()) || parseKindName(text) !== null;
}

/**
 * Whether a column cites where something was published: `reference`, `source`, or such a name with a
 * prefix or suffix (`urlhaus_link`, `threat.indicator.reference`). What follows decides: `source_ip`
 * and `report_indicator` hold items. `terms` and `license` are those of the list.
 *
 * @param name a column, or a dotted path
 */
export function isCitation(name: string): boolean {
  const steps = name.replaceAll(/\[\]|\.\d+(?=\.|$)/g, "").split(".");
  const last = wordsOf(steps.at(-1)!);
  // `references.url` is the address of a reference, `source.ip` an address.
  const parent = last.every((word) => ofPage.has(word)) ? wordsOf(steps.at(-2) ?? "") : [];
  const words = [...parent, ...last];
  if (/^(?:terms|license)$/i.test(name)) return true;
  const first = words.findIndex((word) => citations.has(word));
  if (first < 0 || namesItem(last.join(""))) return false;
  return !words.slice(first + 1).some((word) => namesItem(word));
}

/** Whether a column is prose, whose URLs are further reading: `Note`, `description`. */
export function isNote(name: string): boolean {
  return lastWords(name).some((word) => notes.has(word));
}

/** Whether a column holds names of files, by its name: `filename`, `Attachment`. */
function isOfFiles(name: string): boolean {
  return lastWords(name).some((word) => files.has(word));
}

function lastWords(path: string): readonly string[] {
  return wordsOf(path.slice(path.lastIndexOf(".") + 1));
}

/** Whether a word names an item column, or a kind other than URLs, which citations are. */
function namesItem(word: string): boolean {
  return customaryItemColumns.includes(word) || !["url", null].includes(parseKindName(word));
}

function wordsOf(step: string): readonly string[] {
  return step
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, " ")
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");
}

const citations: ReadonlySet<string> = new Set(
  (
    "reference references ref refs citation citations source sources link links permalink permalinks " +
    "report reports article articles blog blogs blogpost advisory advisories"
  ).split(" "),
);

const ofPage: ReadonlySet<string> = new Set("url urls uri href link name title self".split(" "));

const notes: ReadonlySet<string> = new Set(
  "note notes comment comments remark remarks description descriptions details info".split(" "),
);

const files: ReadonlySet<string> = new Set(
  "file files filename filenames filepath path paths attachment attachments script scripts".split(
    " ",
  ),
);
