import { UsageError } from "../../../core/errors.js";
import { counted, formatCount, shellWord } from "../../../core/wording/quantity.js";
import { limits } from "../reading/lines.js";
import type {
  ColumnPlace,
  ColumnSample,
  InputReading,
  ItemColumn,
  KindColumn,
  OtherColumns,
  RatedColumn,
  ReadOptions,
} from "../types.js";
import {
  customaryItemColumns,
  isCitation,
  isNote,
  type SampledColumn,
  type IsHeld,
  rateColumns,
  type SampledCells,
} from "./rate-columns.js";
import {
  columnName,
  distinctNames,
  extractPipe,
  isListPath,
  matchColumn,
  minShare,
  shownColumns,
  unknownColumn,
} from "./name-columns.js";
import { isEmptyCell } from "../../../core/item/recognise.js";
import { isPublishedKind, parseKindName } from "../../../core/item/item.js";
import { strip } from "../../../core/item/refang.js";

/** The start of an input, from which its columns are found. */
interface ColumnSource {
  readonly input: string;
  columns(): readonly SampledColumn[];
  /** The names of its columns, which a flag may name. */
  names(): readonly string[];
  /** The column of a name; null if there is none. */
  named(wanted: string): ColumnPlace | null | Promise<ColumnPlace | null>;
  /** Reads so many records. @returns false if there were fewer */
  sample(records: number): Promise<boolean>;
  isEmpty(): boolean;
}

export type ColumnFlags = Pick<
  ReadOptions,
  "itemColumn" | "kindColumn" | "isOneOfSeveral" | "isHeld" | "isTable"
>;

type FoundColumns = Pick<InputReading, "items" | "kind" | "others" | "ofFiles">;

/**
 * Finds the item and kind columns from flags and the first records, reading no more than needed.
 */
export async function findColumns(source: ColumnSource, flags: ColumnFlags): Promise<FoundColumns> {
  const [named, ...more] = await placesOf(source, "--item-column", flags.itemColumn, flags);
  const byFlag = (place: ColumnPlace): ItemColumn => ({ ...place, by: "flag", sample: null });
  const found =
    named === undefined
      ? await chooseItem(source, flags)
      : { items: [byFlag(named), ...more.map(byFlag)] as const };
  const [kind] = await placesOf(source, "--kind-column", flags.kindColumn, flags);
  if (kind !== undefined) return { ...found, kind: { ...kind, by: "flag" } };
  return { ...found, kind: more.length === 0 ? await kindBeside(found.items[0], source) : null };
}

/** The columns that a flag names. One of several inputs may lack them. */
async function placesOf(
  source: ColumnSource,
  flag: "--item-column" | "--kind-column",
  names: string | readonly string[] | undefined,
  { isOneOfSeveral = false }: ColumnFlags,
): Promise<readonly ColumnPlace[]> {
  const places: ColumnPlace[] = [];
  for (const wanted of [names ?? []].flat()) {
    const place = await source.named(wanted);
    if (place === null && isOneOfSeveral) continue;
    if (place === null) throw unknownColumn(source.input, source.names(), { flag, wanted });
    if (places.some(({ name, index }) => name === place.name && index === place.index)) {
      const message = `${source.input}: ${flag} ${wanted} is a column that was named already`;
      throw new UsageError("column_repeated", message, { hint: "name each column once" });
    }
    places.push(place);
  }
  return places;
}

/** Samples on while nothing can be looked up: the first rows may be hashes, or private addresses. */
async function chooseItem(
  source: ColumnSource,
  { isHeld, isTable }: Pick<ColumnFlags, "isHeld" | "isTable">,
): Promise<Omit<FoundColumns, "kind">> {
  const isWorth = (column: RatedColumn): boolean => isReason(column) && !isListPath(column.name);
  let found: ReturnType<typeof chooseItemColumn>;
  let isFull: boolean;
  let records: number = limits.sampleRecords;
  do {
    isFull = (await source.sample(records)) && records < limits.mostSampled;
    if (source.isEmpty()) return { items: [anyColumn(source.names())] };
    found = chooseItemColumn(source.columns(), isHeld);
    records = Math.min(records * 2, limits.mostSampled);
  } while (isFull && !found.rated.some(isWorth));
  const { choice, rated } = found;
  if ("problem" in choice) throw noItemColumn(source.input, rated, choice, isTable);
  const sampled = source.columns()[0]?.cells.length ?? 0;
  const others = rated
    .filter((column) => column.index !== choice.index && isAsked(column))
    .map(({ name, index, sample }) => ({
      name,
      index,
      rows: Math.round(sample.queryable * sampled),
    }));
  const ofFiles = rated.filter((column) => column.ofFiles).map(columnName);
  return {
    items: [choice],
    ...(others.length > 0 && { others: { sampled, columns: others } }),
    ...(ofFiles.length > 0 && { ofFiles }),
  };
}

/** The item column of an input without records: any will do. */
function anyColumn(columns: readonly string[]): ItemColumn {
  const usual = customaryItemColumns
    .map((name) => matchColumn(columns, name))
    .find((column) => column !== null);
  const column = usual ?? { name: columns[0] ?? "item", index: 0 };
  return { ...column, by: "name", sample: null };
}

async function kindBeside(item: ItemColumn, source: ColumnSource): Promise<KindColumn | null> {
  if (item.by === "flag") {
    // Nothing is sampled yet; sample only if a neighbour is named like a kind column.
    const columns = source.columns();
    const beside = columns[placeOf(item, columns)]?.neighbours ?? [];
    if (!beside.some((index) => isKindName(columns[index]!.name))) return null;
    await source.sample(limits.sampleRecords);
  }
  const columns = source.columns();
  return chooseKindColumn(columns, placeOf(item, columns));
}

/** A path that a flag names may be none of those sampled; a column has the name of its place, or another. */
function placeOf({ name, index }: ItemColumn, columns: readonly SampledColumn[]): number {
  const named = columns.findIndex((column) => column.name === name);
  return named === -1 ? index : named;
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
export function chooseItemColumn(
  columns: readonly SampledColumn[],
  isHeld?: IsHeld,
): { readonly rated: readonly RatedColumn[]; readonly choice: ItemColumn | ColumnProblem } {
  const rated = rateColumns(columns, isHeld);
  const choice = choiceOf(rated, columns);
  // Only now: a name that repeats another says what its column holds.
  const names = distinctNames(columns.map(({ name }) => name));
  const distinct = <T extends ColumnPlace>(column: T): T => ({
    ...column,
    name: names[column.index]!,
  });
  return { rated: rated.map(distinct), choice: "problem" in choice ? choice : distinct(choice) };
}

function choiceOf(
  rated: readonly RatedColumn[],
  columns: readonly SampledColumn[],
): ItemColumn | ColumnProblem {
  const own = rated.filter(
    ({ name }) => !isListPath(name) && (rated.length === 1 || !isCitation(name)),
  );
  const readable = own.filter(({ sample }) => sample.share >= minShare);
  const queryable = readable.filter(({ sample }) => sample.queryable > 0);
  const candidates = queryable.length > 0 ? queryable : readable;
  const usual = customaryItemColumns.flatMap((name) =>
    own.filter((column) => strip(column.name).toLowerCase() === name),
  );
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
  if (readable.length > 0 && queryable.length === 0 && rated.some(isReason)) {
    return { problem: "several" };
  }
  const chosen = ({ name, index, sample }: RatedColumn, by: ItemColumn["by"]): ItemColumn => ({
    name,
    index,
    sample,
    by,
  });
  if (named !== undefined) return chosen(named, "name");
  const rank = ({ sample: { queryable: asked, share } }: RatedColumn): number =>
    queryable.length > 0 ? asked : share;
  const [first, ...others] = candidates.toSorted((a, b) => rank(b) - rank(a));
  if (first === undefined) return { problem: "none" };
  const isRival = (other: RatedColumn): boolean =>
    rank(first) - rank(other) < minLead ||
    (other.sample.queryable >= minShare && other.sample.kind !== first.sample.kind);
  return others.some(isRival) ? { problem: "several" } : chosen(first, "share");
}

/** Why no column is chosen. `unreadable`: it has a usual name, and no items in most of its cells. */
export type ColumnProblem =
  | { readonly problem: "none" }
  | { readonly problem: "several" }
  | { readonly problem: "unreadable"; readonly column: RatedColumn };

/** @param isTable whether the input is no text, so that `repute extract` can't read it */
export function noItemColumn(
  input: string,
  columns: readonly RatedColumn[],
  why: ColumnProblem,
  isTable = false,
): UsageError {
  const shares = columns.map((each) => `  ${shownColumns([each])}  ${shareText(each.sample)}`);
  const isLacking = why.problem === "none" && columns.every(({ sample }) => sample.queryable === 0);
  const message = [`${input}: ${problemText(why)}. Share of indicators per column:`, ...shares];
  return new UsageError(isLacking ? "column_not_found" : "column_ambiguous", message.join("\n"), {
    hint: columnHint(input, columns, why, isTable),
    command: enrichCommand(input),
  });
}

function problemText(why: ColumnProblem): string {
  if (why.problem === "several") return "several columns could hold the items";
  if (why.problem === "none") {
    return "no column has indicators in at least half of its sampled cells";
  }
  const { indicators, cells } = why.column.sample;
  const found = `${indicators} of ${counted(cells, "sampled cell")}`;
  const are = indicators === 1 ? "is an indicator" : "are indicators";
  return `column ${shownColumns([why.column])} can't be read: only ${found} ${are}`;
}

/** The command that takes all columns with items, and the one that finds items inside cells. */
function columnHint(
  input: string,
  columns: readonly RatedColumn[],
  why: ColumnProblem,
  isTable: boolean,
): string {
  const enrich = (taken: readonly RatedColumn[]): string =>
    `${enrichCommand(input)}${itemFlags(taken)}`;
  const found = columns.filter(isAsked);
  if (why.problem === "several") {
    const likely = found.filter(({ sample }) => sample.share >= minShare);
    const taken = [likely, found, columns].find(({ length }) => length > 0) ?? [];
    return `name one, or look up all of them: ${enrich(taken)}`;
  }
  const inside = `to find the items inside its cells: ${extractPipe([input])}`;
  if (found.length > 0) {
    const all = `to look up what there is: ${enrich(found)}`;
    return isTable ? all : `${all}; ${inside}`;
  }
  const name = "name the column with --item-column NAME";
  return isTable ? name : `${inside}; or ${name}`;
}

function enrichCommand(input: string): string {
  return `repute enrich ${input === "stdin" ? "-" : shellWord(input)}`;
}

function itemFlags(columns: readonly ColumnPlace[]): string {
  return columns.map((column) => ` --item-column ${shellWord(columnName(column))}`).join("");
}

/** Names the columns with items that are not looked up, and the flags that take them too. */
export function othersNotice(
  items: readonly ColumnPlace[],
  { sampled, columns }: OtherColumns,
): string {
  const found = columns.map(
    (column) =>
      `${shownColumns([column])} ${columns.length === 1 ? "has items too " : ""}(${formatCount(column.rows)} of ${counted(sampled, "row")})`,
  );
  const what =
    columns.length === 1 ? `column ${found[0]}` : `columns ${found.join(", ")} have items too`;
  // `ips[]` takes single values, too.
  const own = items.filter(({ name }) => !columns.some((other) => other.name === `${name}[]`));
  return `${what}:${itemFlags([...own, ...columns])}`;
}

function shareText({ share, cells, queryable, kind }: ColumnSample): string {
  const found = `${percent(share)} of ${cells} sampled ${cells === 1 ? "cell" : "cells"}`;
  return kind === null
    ? found
    : `${found}; ${kind} to look up in ${percent(queryable)} of the rows`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** Whether a column has something to look up. The pages that a citation names are not. */
function isAsked({ name, sample }: RatedColumn): boolean {
  return sample.queryable > 0 && !(sample.kind === "url" && isCitation(name));
}

/** Whether a column is a reason against one without anything to look up. */
function isReason(column: RatedColumn): boolean {
  return isAsked(column) && !(column.sample.kind === "url" && isNote(column.name));
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

function isKindName(name: string): boolean {
  const step = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return kindNames.has(step.replaceAll(/[\s_-]+/g, ""));
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
