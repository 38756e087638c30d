import { isEmptyCell } from "../../../core/item/empty-cell.js";
import { isPublishedKind, parseKindName } from "../../../core/item/item.js";
import { strip } from "../../../core/item/refang.js";
import type { ItemColumn, KindColumn, RatedColumn } from "../types.js";
import { customaryItemColumns, isAsked, isCitation, isNote } from "./column-words.js";
import { type ColumnProblem, isListPath, minShare } from "./name-columns.js";
import { type IsHeld, rateColumns, type SampledCells, type SampledColumn } from "./rate-columns.js";

export interface ItemChoice {
  readonly rated: readonly RatedColumn[];
  /** The chosen column, or why none is. */
  readonly choice: ItemColumn | ColumnProblem;
}

/**
 * Chooses the first usual name whose column has a share of at least half, unless only another such
 * column can be looked up. Else, of the columns with such a share, the one with the largest queryable
 * share, or with the largest share if none can be looked up. Citations are not considered.
 *
 * Refuses to choose if a second one comes within a tenth, or holds another kind in half of the rows; if
 * the cells of a usual name cannot be read; and if only other columns can be looked up: those with a
 * smaller share, and lists. The pages that a note links to are no reason to refuse.
 */
export function chooseItemColumn(columns: readonly SampledColumn[], isHeld?: IsHeld): ItemChoice {
  const rated = rateColumns(columns, isHeld);
  return { rated, choice: choiceOf(rated, columns) };
}

function choiceOf(
  rated: readonly RatedColumn[],
  columns: readonly SampledColumn[],
): ItemColumn | ColumnProblem {
  const own = rated.filter(
    ({ name }) => !isListPath(name) && (rated.length === 1 || !isCitation(name)),
  );
  const readable = own.filter(({ sample }) => sample.share >= minShare);
  const canAsk = readable.some(isQueryable);
  const candidates = canAsk ? readable.filter(isQueryable) : readable;
  const usual = usualColumns(own);
  const named = usual.find((column) => candidates.includes(column));
  const unreadable = usual.find(
    (column) =>
      column.sample.cells > 0 &&
      !readable.includes(column) &&
      !holdsKinds(columns[column.index]!.cells),
  );
  if (named === undefined && unreadable !== undefined) {
    return { problem: "unreadable", column: unreadable };
  }
  if (candidates.length > 0 && !canAsk && rated.some(isReason)) return { problem: "several" };
  if (named !== undefined) return chosen(named, "name");
  const rank = ({ sample }: RatedColumn): number => (canAsk ? sample.queryable : sample.share);
  const [first, ...others] = candidates.toSorted((a, b) => rank(b) - rank(a));
  if (first === undefined) return { problem: "none" };
  const isRival = (other: RatedColumn): boolean =>
    rank(first) - rank(other) < minLead ||
    (other.sample.queryable >= minShare && other.sample.kind !== first.sample.kind);
  if (others.some(isRival)) return { problem: "several" };
  return chosen(first, "share");
}

function chosen({ name, index, sample }: RatedColumn, by: ItemColumn["by"]): ItemColumn {
  return { name, index, sample, by };
}

function isQueryable({ sample }: RatedColumn): boolean {
  return sample.queryable > 0;
}

/** Whether a column is a reason against one without anything to look up. */
export function isReason(column: RatedColumn): boolean {
  return isAsked(column) && !(column.sample.kind === "url" && isNote(column.name));
}

/** The columns of usual names, in the order of these names. */
function usualColumns(rated: readonly RatedColumn[]): readonly RatedColumn[] {
  return customaryItemColumns.flatMap((usual) =>
    rated.filter(({ name }) => strip(name).toLowerCase() === usual),
  );
}

/**
 * Finds the kind column next to the item column: by its name or because most of its cells are
 * kinds, and with at least one kind known to repute.
 */
export function chooseKindColumn(
  columns: readonly SampledColumn[],
  item: number,
): KindColumn | null {
  for (const index of columns[item]?.neighbours ?? []) {
    const { name, cells } = columns[index]!;
    if (!cells.some((cell) => cell !== null && parseKindName(cell) !== null)) continue;
    if (isKindName(name) || holdsKinds(cells)) return { name, index, by: "neighbour" };
  }
  return null;
}

function holdsKinds(cells: SampledCells): boolean {
  const words = cells.filter((cell) => cell !== null && !isEmptyCell(cell)) as string[];
  const kinds = words.filter((word) => isPublishedKind(word)).length;
  return kinds > 0 && kinds * 2 >= words.length;
}

export function isKindName(name: string): boolean {
  return kindNames.has(
    name
      .slice(name.lastIndexOf(".") + 1)
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ""),
  );
}

/**
 * The kind in an automatically chosen kind column; "" for unknown words. Such columns also label
 * hashes and files, which is no cause for a warning.
 */
export function recognisedKind(text: string): string {
  return text === "" || parseKindName(text) === null ? "" : text;
}

/** Allows for floating-point error: 1 and 0.9 are a tenth apart. */
const minLead = 0.1 + 1e-9;
const kindNames: ReadonlySet<string> = new Set(
  (
    "type kind indicator indicatortype indicatorkind ioctype iockind itemtype itemkind " +
    "observabletype attributetype artifacttype artefacttype entitytype datatype valuetype"
  ).split(" "),
);
