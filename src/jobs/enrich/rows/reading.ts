import type { OptionalColumns } from "../../../core/columns.js";
import { UsageError } from "../../../core/errors.js";
import { type FindingError, unasked } from "../../../core/finding.js";
import { parseKindName } from "../../../core/item/item.js";
import { itemCodes } from "../../../core/row-codes.js";
import { recogniseItem } from "../../../core/item/recognise.js";
import { memberTexts, objectText } from "../../../core/json-members.js";
import type { EnrichedRow } from "../../../core/row.js";
import { counted } from "../../../core/wording/quantity.js";
import { columnName, namedColumn, shownColumns } from "../../../io/formats/columns/name-columns.js";
import { othersNotice } from "../../../io/formats/columns/find-columns.js";
import { detectSourceFormat } from "../../../io/formats/registry.js";
import { openSource, sniffFormat } from "../../../io/input/open-source.js";
import type { InputReading, SourceFormat } from "../../../io/formats/types.js";
import { copiesOf, isCopied } from "../../../io/input/copies.js";
import type { CopyShape, TableInput } from "../../../io/input/table-input.js";
import {
  type Encoding,
  type FilePosition,
  fileInputs,
  inputsOf,
  isTableCopy,
  type NamedInput,
  type OpenedSource,
  type RunInput,
  type SourceInput,
  type SourcePosition,
} from "../../../io/input/types.js";
import type { Lookup } from "../../../client/lookup/types.js";
import type { Job, ReadingSettings, RowSource, StartRow } from "../types.js";

/** The columns of a run's output: those of the input that it keeps, and the optional ones. */
export function writtenColumns(job: Job, source: Pick<OpenedSource, "columns" | "types">) {
  const { prefix, inputColumns } = job.settings.output;
  return { ...chosenColumns(source, inputColumns), optional: optionalColumnsOf(job), prefix };
}

function optionalColumnsOf({ input, settings, refill }: Job): OptionalColumns {
  const items = [settings.input.itemColumn ?? []].flat();
  const { raw, columns: only } = settings.output;
  return refill?.optional ?? { file: "inputs" in input, column: items.length > 1, raw, only };
}

/**
 * The columns that `--input-columns` names, in its order, and how a row has no others.
 *
 * @param names @default all
 * @throws UsageError `column_not_found`
 */
function chosenColumns(
  { columns, types }: Pick<OpenedSource, "columns" | "types">,
  names: readonly string[] | undefined,
) {
  if (names === undefined) return { columns, types, only: (row: EnrichedRow) => row };
  const places = names.map((wanted) =>
    namedColumn("the input", columns, { flag: "--input-columns", wanted }),
  );
  const chosen = <T>(values: readonly T[]): readonly T[] =>
    places.map(({ index }) => values[index]!);
  const members = new Set(places.map(({ name }) => name));
  return {
    columns: chosen(columns),
    types: types && chosen(types),
    only: (enriched: EnrichedRow): EnrichedRow => {
      const { row } = enriched;
      const { json, nulls, extra } = row;
      const own = {
        ...row,
        cells: places.map(({ index }) => row.cells[index] ?? ""),
        ...(nulls && { nulls: chosen(nulls) }),
        ...(json !== null && { json: onlyMembers(json, members), extra: null }),
        ...(json === null && { extra }),
      };
      return { ...enriched, row: own };
    },
  };
}

function onlyMembers(json: string, names: ReadonlySet<string>): string {
  const members = memberTexts(json);
  const chosen = [...names].filter((name) => members.has(name));
  return objectText(new Map(chosen.map((name) => [name, members.get(name)!])));
}

/** Options that apply only to text. */
const textOptions = ["from", "header", "delimiter", "comment", "encoding", "sheet"] as const;

type TextSettings = Partial<Pick<ReadingSettings, (typeof textOptions)[number]>>;

function textSettings(settings: ReadingSettings | null): TextSettings {
  return Object.fromEntries(textOptions.map((name) => [name, settings?.[name]]));
}

/**
 * How the rows of an input are read. What is not on this machine is copied to the run's folder first.
 *
 * @throws UsageError `text_option` if there is no text
 */
export function inputReading(input: RunInput, settings: ReadingSettings): RowSource {
  const rows = readingOf(input, settings);
  const tables = fileInputs(input).flatMap(({ table }) => table ?? []);
  if (!fileInputs(input).some(isCopied)) return rows;
  const text = inputsOf(input).find((one) => !("path" in one) || one.table === undefined);
  if (text === undefined) refuseTextOptions(tables[0]!, settings);
  return {
    ...rows,
    // Text outputs are CSV unless they are named otherwise.
    inputFormat: async () => (text === undefined ? "csv" : readingOf(text, settings).inputFormat()),
    copied(place) {
      const shape = text === undefined ? place.shape : shapeBeside(text, settings);
      const copies = copiesOf(input, { ...place, shape });
      return { ...copies, open: readingOf(copies.input, settings).open };
    },
  };
}

/** Objects and rows do not mix: tables are copied as what the text is. */
function shapeBeside(text: SourceInput, { from }: ReadingSettings): CopyShape {
  const named = "path" in text ? detectSourceFormat(text.path).format : null;
  return ["json", "ndjson"].includes(from ?? named ?? "") ? "objects" : "cells";
}

function refuseTextOptions({ name }: TableInput, settings: ReadingSettings): void {
  const option = textOptions.find((each) => settings[each] !== undefined);
  if (option === undefined) return;
  const message = `--${option} applies only to text, and the input ${name} is none`;
  throw new UsageError("text_option", message, { hint: `leave out --${option}` });
}

/** The default way for runs and plans to read an input and find its items. */
export function readingOf(input: RunInput, given: ReadingSettings): RowSource {
  if ("inputs" in input) return readingOfSeveral(input.inputs, given);
  const isTable = isTableCopy(input);
  const settings: ReadingSettings = isTable
    ? { ...given, ...textSettings(null), from: "ndjson" }
    : given;
  const comment = settings.comment ?? null;
  const { format: named, ...stored } = storedAs(input, settings);
  let sniffing: ReturnType<typeof sniffFormat> | null = null;
  const sniff = (startAt: SourcePosition | null = null): ReturnType<typeof sniffFormat> =>
    (sniffing ??=
      named === null
        ? sniffFormat(input, { ...stored, comment, before: startAt?.input })
        : Promise.resolve({ input, format: named, comment }));
  return {
    inputFormat: async () => (await sniff()).format,
    options: optionsOf(settings, named),
    open: async (startAt) => {
      const sniffed = await sniff(startAt);
      const format = startAt?.reading.format ?? sniffed.format;
      refuseDelimiter(input, settings, format);
      const { comment } = sniffed;
      return openSource(sniffed.input, { ...settings, ...stored, format, comment, startAt });
    },
  };
}

/** What flags and name tell of how an input is stored, and of its format; null if they don't. */
function storedAs(
  input: SourceInput,
  { from, delimiter, encoding, sheet }: ReadingSettings,
): Encoding & { readonly format: Exclude<SourceFormat, "json"> | null } {
  const detected = "path" in input ? detectSourceFormat(input.path) : null;
  const gzip = detected?.gzip ?? false;
  const cells = delimiter === undefined ? null : delimiter === "\t" ? "tsv" : "csv";
  const format = from ?? detected?.format ?? cells;
  const stored = { gzip, encoding, sheet };
  if (format === "json") return { ...stored, format: "ndjson", json: "named" };
  const mayBeJson = (format === null || format === "ndjson") && !isTableCopy(input);
  return { ...stored, format, json: mayBeJson ? "possible" : undefined };
}

/** @throws UsageError `text_option` for a delimiter of an input without cells */
function refuseDelimiter(input: SourceInput, settings: ReadingSettings, format: SourceFormat) {
  const { delimiter } = settings;
  if (delimiter === undefined || !["ndjson", "text"].includes(format)) return;
  const name = "path" in input ? (input.copyOf?.name ?? input.path) : input.name;
  const read = format === "text" ? "text, one item a line" : "JSON";
  throw new UsageError("text_option", `--delimiter is for cells, but ${name} is read as ${read}`, {
    hint: "leave out --delimiter, or add --from csv",
  });
}

function readingOfSeveral(inputs: readonly NamedInput[], settings: ReadingSettings): RowSource {
  const files = inputs.map((named) => ({
    ...named,
    ...readingOf(named.input, { ...settings, isOneOfSeveral: true }),
  }));
  return {
    inputFormat: () => files[0]!.inputFormat(),
    options: optionsOf(settings, settings.from ?? null),
    async open(startAt) {
      const { openSeveral } = await import("../../../io/input/open-several.js");
      return openSeveral(files, settings, startAt);
    },
  };
}

function optionsOf(settings: ReadingSettings, from: string | null): RowSource["options"] {
  const { itemColumn, kindColumn, tlpColumn, maxTlp } = settings;
  return {
    ...textSettings(settings),
    from,
    "item-column": itemColumn,
    "kind-column": kindColumn,
    "tlp-column": maxTlp && tlpColumn,
    "max-tlp": maxTlp,
  };
}

/** Recognises a row's item and starts its lookup. A row without an item is settled at once. */
export function startRow(lookup: Lookup): StartRow {
  return (row, signal) => {
    if (row.fault !== null) return { item: null, finding: unasked("failed", row.fault) };
    if (row.itemNotText === true) return { item: null, finding: unasked("unsupported", notText) };
    const kind = row.kindText === "" ? null : parseKindName(row.kindText);
    const { item, reason } = recogniseItem(row.itemText, kind);
    if (item === null) return { item, finding: unasked("unsupported", reason) };
    if (row.held !== undefined) return { item, finding: unasked("unsupported", row.held) };
    return { item, finding: lookup(item, { signal, row: row.number }) };
  };
}

const notText: FindingError = { code: "not_text", message: itemCodes.not_text[0] };

/** Reports the columns that were chosen without a flag. */
export function announceReading({ onNotice }: Job, source: OpenedSource): void {
  const files = source.files?.();
  const notices = files === undefined ? choiceIn(source.reading) : choicesIn(files);
  const readings = files?.map(({ reading }) => reading) ?? [source.reading];
  for (const notice of [...notices, ...othersIn(readings)]) onNotice?.(notice);
}

function choiceIn(reading: InputReading): readonly string[] {
  const { items, kind } = reading;
  const found = sampled([reading]);
  const kinds = kind?.by === "neighbour" ? shownColumns([kind]) : null;
  const also = kinds === null ? "" : `; ${kinds} holds the kinds`;
  const choice = found === "" ? null : `using column ${shownColumns(items)}${found}${also}`;
  const onlyKinds = kinds === null ? [] : `using column ${kinds} for the kinds of items`;
  return [skippedNotice(reading), choice ?? onlyKinds].flat();
}

/** The notice about lines at the start that are not read. */
function skippedNotice({ skipped }: InputReading, where = ""): readonly string[] {
  if (skipped === undefined) return [];
  const { lines, text } = skipped;
  return [`skipping ${counted(lines, "line")} before the first record${where}: ${text}`];
}

const mostNamed = 3;

/** Tells which column each of several files uses: one line per column, the most frequent first. */
function choicesIn(files: readonly FilePosition[]): readonly string[] {
  const byColumn = new Map<string, FilePosition[]>();
  for (const file of files) {
    const { items, format } = file.reading;
    // Lists of items have one column, empty files none.
    if (format === "text" || file.columns.length === 0) continue;
    const column = shownColumns(items);
    byColumn.set(column, [...(byColumn.get(column) ?? []), file]);
  }
  const groups = [...byColumn].toSorted(([, a], [, b]) => b.length - a.length);
  const skips = files.flatMap(({ name, reading }) => skippedNotice(reading, ` of ${name}`));
  const choices = groups.map(([column, group]) => {
    const where =
      group.length > mostNamed ? `${group.length} files` : group.map(({ name }) => name).join(", ");
    return `using column ${column} in ${where}${sampled(group.map(({ reading }) => reading))}`;
  });
  return [...skips, ...choices];
}

/** One line for the other columns with items, of all inputs. */
function othersIn(readings: readonly InputReading[]): readonly string[] {
  const having = readings.filter(({ others }) => others !== undefined);
  const chosen = new Map(
    having.flatMap(({ items }) => items.map((item) => [columnName(item), item] as const)),
  );
  const rows = new Map<string, number>();
  for (const column of having.flatMap(({ others }) => others?.columns ?? [])) {
    const name = columnName(column);
    if (!chosen.has(name)) rows.set(name, (rows.get(name) ?? 0) + column.rows);
  }
  if (rows.size === 0) return [];
  const columns = Array.from(rows, ([name, found]) => ({ name, index: 0, rows: found }));
  const sampled = sumOf(having.map(({ others }) => others?.sampled ?? 0));
  return [othersNotice([...chosen.values()], { sampled, columns })];
}

function sampled(readings: readonly InputReading[]): string {
  const samples = readings.map(({ items }) => items[0].sample);
  const cells = sumOf(samples.map((sample) => sample?.cells ?? 0));
  const indicators = sumOf(samples.map((sample) => sample?.indicators ?? 0));
  return cells === 0 ? "" : ` (${indicators} of ${cells} sampled cells are indicators)`;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
