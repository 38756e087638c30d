import { stat } from "node:fs/promises";
import { UsageError } from "../../core/errors.js";
import type { Row } from "../../core/row.js";
import { columnName, matchColumn } from "../formats/columns/name-columns.js";
import { flatten } from "../formats/ndjson/ndjson.js";
import type { InputReading, ItemColumn } from "../formats/types.js";
import type { SourceSettings } from "../formats/source-options.js";
import { mustHaveMarks } from "./tlp-rows.js";
import type { FilePosition, NamedInput, OpenedSource, SourcePosition } from "./types.js";
import { verifyFile } from "./open-input.js";
import type { InputType } from "../formats/column-types.js";

interface SeveralFile extends NamedInput {
  /** Opens it where an earlier session stopped, or at the start. */
  readonly open: (startAt: SourcePosition | null) => Promise<OpenedSource>;
}

interface KnownFile extends SeveralFile {
  position: FilePosition;
  /** A pipe stays open from the time it was sampled; null for a file. */
  readonly opened: OpenedSource | null;
}

type SeveralFlags = Pick<SourceSettings, "itemColumn" | "kindColumn" | "tlpColumn" | "maxTlp">;

/**
 * Opens several inputs as one. The header of each is read first, because the columns of the first
 * row are those of all files. Flags that name columns apply to the inputs that have them.
 *
 * @throws UsageError `inputs_mixed`; `column_not_found` if no input has a column that a flag names; as
 *   `openSource`
 */
export async function openSeveral(
  files: readonly SeveralFile[],
  flags: SeveralFlags,
  startAt: SourcePosition | null,
): Promise<OpenedSource> {
  const known: KnownFile[] = [];
  try {
    for (const [index, file] of files.entries()) {
      known.push(await settle(file, startAt?.files?.[index] ?? null));
      refuseMix(known);
    }
    const at = startAt === null ? 0 : current(known, startAt);
    for (const { input, position } of known.slice(0, at)) {
      if (position.input === undefined || !("path" in input)) continue;
      await verifyFile(input.path, position.input, position.name);
    }
    const source = new SeveralSource(known, at, flags);
    mustBeUsed(flags, known);
    mustHaveMarks("the input", source, flags);
    return source;
  } catch (error) {
    for (const { opened } of known) await opened?.close();
    throw error;
  }
}

/** Finds the layout of a file, unless an earlier session has. */
async function settle(file: SeveralFile, saved: FilePosition | null): Promise<KnownFile> {
  if (saved !== null) return { ...file, position: saved, opened: null };
  const { input, name } = file;
  const facts = "path" in input ? await stat(input.path).catch(() => null) : null;
  const isPipe = !("path" in input) || (facts !== null && !facts.isFile());
  const source = await file.open(null);
  if (!isPipe) await source.close();
  const { columns, types, reading, kind, bytesTotal } = source;
  const position = { name, kind, columns, types, reading, bytesTotal, start: null, warnings: [] };
  return { ...file, position, opened: isPipe ? source : null };
}

/** The file in which an interrupted run stopped: the last one that begins before its row. */
function current(files: readonly KnownFile[], { row }: SourcePosition): number {
  const begins = ({ position }: KnownFile): boolean =>
    position.start !== null && position.start < row;
  return Math.max(0, files.findLastIndex(begins));
}

function refuseMix(files: readonly KnownFile[]): void {
  const isObjects = ({ position }: KnownFile): boolean => position.reading.format === "ndjson";
  const [first] = files;
  const other = files.find((file) => isObjects(file) !== isObjects(first!));
  if (first === undefined || other === undefined) return;
  const [objects, rows] = isObjects(first) ? [first, other] : [other, first];
  const kind = rows.position.kind ?? rows.position.reading.format;
  const both = `${objects.name} is NDJSON and ${rows.name} is ${kind}`;
  const message = `${both}: one run reads either objects or rows`;
  throw new UsageError("inputs_mixed", message, { hint: "run once for each kind, or convert one" });
}

/** @throws UsageError `column_not_found` */
function mustBeUsed({ itemColumn, kindColumn }: SeveralFlags, files: readonly KnownFile[]): void {
  const readings = files.map(({ position }) => position.reading);
  const mustBe = (flag: string, wanted: string, isUsed: (reading: InputReading) => boolean) => {
    if (readings.some(isUsed)) return;
    const column = `a column ${JSON.stringify(wanted)} (${flag})`;
    const hint = `${flag} applies to the inputs that have the column; check its name`;
    const message = `none of the ${readings.length} inputs has ${column}`;
    throw new UsageError("column_not_found", message, { hint });
  };
  for (const wanted of [itemColumn ?? []].flat()) {
    const isItem = ({ name, by }: ItemColumn): boolean =>
      by === "flag" && matchColumn([name], wanted) !== null;
    mustBe("--item-column", wanted, ({ items }) => items.some(isItem));
  }
  if (kindColumn === undefined) return;
  mustBe("--kind-column", kindColumn, ({ kind }) => kind?.by === "flag");
}

/** How the inputs are read as a whole: what they share, and CSV where they differ. */
function commonReading(readings: readonly InputReading[]): InputReading {
  const first = readings[0]!;
  const agree = (read: (reading: InputReading) => unknown): boolean =>
    readings.every((reading) => read(reading) === read(first));
  const isOneFormat = agree(({ format }) => format);
  return {
    format: isOneFormat ? first.format : "csv",
    delimiter: isOneFormat && agree(({ delimiter }) => delimiter) ? first.delimiter : ",",
    comment: null,
    spaced: false,
    header: readings.every(({ header }) => header === "none") ? "none" : "record",
    items: readings.find(({ items }) => items.length > 1)?.items ?? first.items,
    kind: null,
  };
}

class SeveralSource implements OpenedSource {
  readonly columns: readonly string[];
  readonly types: readonly InputType[] | undefined;
  readonly reading: InputReading;
  readonly rows: AsyncIterable<readonly Row[]>;
  readonly bytesTotal: number | null;
  readonly #files: readonly KnownFile[];
  readonly #union: ColumnUnion;
  /** Whether rows say which item column is theirs, also where a file has only one. */
  readonly #namesColumns: boolean;
  #at: number;
  #source: OpenedSource | null = null;
  #isClosed = false;

  constructor(files: readonly KnownFile[], at: number, { itemColumn }: SeveralFlags) {
    const positions = files.map(({ position }) => position);
    this.#files = files;
    this.#namesColumns = [itemColumn ?? []].flat().length > 1;
    this.reading = commonReading(positions.map(({ reading }) => reading));
    this.#union = uniteColumns(positions.map(({ columns }) => columns));
    this.columns = this.#union.columns;
    this.types = uniteTypes(this.#union, positions);
    this.#at = at;
    // Files that were only read ahead are read again.
    for (const [index, file] of files.slice(at).entries()) {
      const { position } = file;
      file.position = { ...position, start: index === 0 ? position.start : null, warnings: [] };
    }
    const sizes = positions.map(({ bytesTotal }) => bytesTotal);
    this.bytesTotal = sizes.includes(null) ? null : sumOf(sizes);
    this.rows = this.#read();
  }

  bytesRead(): number {
    const read = this.#files.slice(0, this.#at).map(({ position }) => position.input?.bytes ?? 0);
    return sumOf(read) + (this.#source?.bytesRead() ?? 0);
  }

  checksum(): undefined {
    return undefined;
  }

  files(): readonly FilePosition[] {
    this.#record();
    return this.#files.map(({ position }) => position);
  }

  get warnings(): readonly string[] {
    return this.files().flatMap(({ warnings }) => warnings);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#source?.close();
    for (const { opened } of this.#files) await opened?.close();
  }

  async *#read(): AsyncGenerator<readonly Row[]> {
    let reached = this.#files[this.#at]?.position.start ?? 0;
    for (; this.#at < this.#files.length; this.#at++) {
      const file = this.#files[this.#at]!;
      const position = { ...file.position, start: reached };
      file.position = position;
      this.#source = file.opened ?? (await file.open({ ...position, row: 0 }));
      // Meanwhile, the run may have ended.
      if (this.#isClosed) return this.close();
      const rowOf = this.#placer(position);
      for await (const batch of this.#source.rows) {
        const rows = batch.map(rowOf);
        reached = rows.at(-1)?.number ?? reached;
        yield rows;
      }
      this.#record();
      await this.#source.close();
      this.#source = null;
    }
  }

  /** Makes the rows of the current file: counted across all, with a cell for every column. */
  #placer({ name, reading, start }: FilePosition & { readonly start: number }): (row: Row) => Row {
    const column = this.#namesColumns ? columnName(reading.items[0]) : undefined;
    const { columns, places } = this.#union;
    const own = places[this.#at] ?? null;
    const placed = <Value>(values: readonly Value[], missing: Value): readonly Value[] =>
      own === null ? values : own.map((index) => values[index] ?? missing);
    return (row) => {
      const ownColumn = row.column ?? column;
      return {
        ...row,
        number: start + row.number,
        file: name,
        ...(ownColumn !== undefined && { column: ownColumn }),
        ...(row.nulls !== undefined && { nulls: placed(row.nulls, false) }),
        ...(row.json !== null && own !== null
          ? flatten(row.json, columns)
          : { cells: placed(row.cells, "") }),
      };
    };
  }

  /** Notes what is known of the current file. */
  #record(): void {
    const file = this.#files[this.#at];
    if (this.#source === null || file === undefined) return;
    const [input, warnings] = [this.#source.checksum(), [...this.#source.warnings]];
    file.position = { ...file.position, input, warnings };
  }
}

function sumOf(numbers: readonly (number | null)[]): number {
  return numbers.reduce<number>((sum, number) => sum + (number ?? 0), 0);
}

type ColumnUnion = ReturnType<typeof uniteColumns>;

/**
 * Unites columns by name, ignoring spaces around it. A name that an input has twice is there twice.
 */
function uniteColumns(lists: readonly (readonly string[])[]) {
  const names = new Map<string, string>();
  const keyed = lists.map((columns) => keysOf(columns));
  for (const [list, keys] of keyed.entries()) {
    for (const [index, key] of keys.entries()) {
      if (!names.has(key)) names.set(key, lists[list]![index]!);
    }
  }
  const union = [...names.keys()];
  return {
    columns: [...names.values()],
    /** Per input, the index of each of these columns in it, or -1; null if both lists are the same. */
    places: keyed.map((keys) => {
      const isSame = keys.length === union.length && keys.every((key, n) => key === union[n]);
      if (isSame) return null;
      const indexes = new Map(keys.map((key, index) => [key, index]));
      return union.map((key) => indexes.get(key) ?? -1);
    }),
  };
}

/** The types of united columns: text if a text input has it. Undefined if all inputs are text. */
function uniteTypes(
  { columns, places }: ColumnUnion,
  files: readonly Pick<FilePosition, "name" | "types">[],
): readonly InputType[] | undefined {
  if (files.every(({ types }) => types === undefined)) return undefined;
  return columns.map((_, index) => {
    const found = files.flatMap(({ name, types }, file) => {
      const place = places[file]?.[index] ?? index;
      return place < 0 ? [] : [{ name, type: types?.[place] ?? text }];
    });
    const [first = { name: "", type: text }] = found;
    if (found.some(({ type }) => type === text)) return text;
    const other = found.find(({ type }) => type.type !== first.type.type);
    if (other === undefined) return first.type;
    const declared = [first, other].map(({ name, type }) => `${type.declared} in ${name}`);
    return { type: null, declared: declared.join(" and ") };
  });
}

const text: InputType = { type: "text", declared: "text" };

function keysOf(columns: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return columns.map((column) => {
    const name = column.trim();
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return `${count} ${name}`;
  });
}
