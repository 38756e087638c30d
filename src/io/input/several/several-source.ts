import type { Row } from "../../../core/row.js";
import type { InputType } from "../../formats/typed-column.js";
import type { InputReading } from "../../formats/types.js";
import type { FileInput, FilePosition, OpenedSource, SourcePosition } from "../types.js";
import { columnName } from "../../formats/columns/name-columns.js";
import { flatten } from "../../formats/ndjson/ndjson-output.js";

export interface SourceFile {
  readonly name: string;
  /** A regular file or an object, which can be opened again; null for a pipe. */
  readonly input: FileInput | null;
  /** Opens it where an earlier session stopped, or at the start. */
  readonly open: (resume: SourcePosition | null) => Promise<OpenedSource>;
}

export interface KnownFile extends SourceFile {
  readonly position: FilePosition;
  /** A pipe stays open from the time it was sampled. */
  readonly opened: OpenedSource | null;
}

interface SeveralOptions {
  readonly at: number;
  readonly resume: SourcePosition | null;
  readonly notices: readonly string[];
  /** Whether rows say which item column is theirs, also where a file has only one. */
  readonly namesColumns: boolean;
}

export class SeveralSource implements OpenedSource {
  readonly columns: readonly string[];
  readonly types: readonly InputType[] | undefined;
  readonly reading: InputReading;
  readonly rows: AsyncIterable<readonly Row[]>;
  readonly bytesTotal: number | null;
  readonly notices: readonly string[];
  readonly #files: readonly KnownFile[];
  readonly #union: ColumnUnion;
  readonly #positions: FilePosition[];
  readonly #namesColumns: boolean;
  #at: number;
  #source: OpenedSource | null = null;

  constructor(
    files: readonly KnownFile[],
    reading: InputReading,
    { at, resume, notices, namesColumns }: SeveralOptions,
  ) {
    this.#files = files;
    this.reading = reading;
    this.notices = notices;
    this.#namesColumns = namesColumns;
    this.#union = uniteColumns(files.map(({ position }) => position.columns));
    this.columns = this.#union.columns;
    this.types = uniteTypes(
      this.#union,
      files.map(({ position }) => position),
    );
    this.#at = at;
    // Files that were only read ahead are read again.
    this.#positions = files.map(({ position }, index) => {
      if (index < at) return position;
      return { ...position, start: index === at ? position.start : null, warnings: [] };
    });
    const sizes = files.map(({ position }) => position.bytesTotal);
    this.bytesTotal = sizes.includes(null) ? null : sum(sizes as readonly number[]);
    this.rows = this.#read(resume);
  }

  bytesRead(): number {
    const done = this.#positions.slice(0, this.#at).map(({ input }) => input?.bytes ?? 0);
    return sum(done) + (this.#source?.bytesRead() ?? 0);
  }

  checksum(): undefined {
    return undefined;
  }

  files(): readonly FilePosition[] {
    this.#record();
    return [...this.#positions];
  }

  get warnings(): ReadonlyMap<string, number> {
    this.#record();
    const counts = new Map<string, number>();
    for (const { warnings } of this.#positions) {
      for (const [message, count] of warnings) {
        counts.set(message, (counts.get(message) ?? 0) + count);
      }
    }
    return counts;
  }

  async close(): Promise<void> {
    await this.#source?.close();
    for (const { opened } of this.#files) await opened?.close();
  }

  async *#read(resume: SourcePosition | null): AsyncGenerator<readonly Row[]> {
    let reached = { offset: resume?.offset ?? 0, row: resume?.row ?? 0 };
    let line = resume?.line ?? 0;
    for (; this.#at < this.#files.length; this.#at++) {
      const position = this.#positions[this.#at]!;
      const start = position.start ?? reached;
      this.#positions[this.#at] = { ...position, start };
      const source = await this.#open({
        offset: reached.offset - start.offset,
        row: reached.row - start.row,
        line,
      });
      this.#source = source;
      const place: FilePlace = {
        name: position.name,
        column: this.#namesColumns ? columnName(position.reading.items[0]) : undefined,
        start,
        columns: this.columns,
        places: this.#union.places[this.#at] ?? null,
      };
      for await (const batch of source.rows) {
        const rows = batch.map((row) => fileRow(row, place));
        const last = rows.at(-1);
        if (last !== undefined) reached = { offset: last.end, row: last.number };
        yield rows;
      }
      this.#record();
      await source.close();
      this.#source = null;
      line = 0;
    }
  }

  async #open(from: Pick<SourcePosition, "offset" | "row" | "line">): Promise<OpenedSource> {
    const { opened, open } = this.#files[this.#at]!;
    if (opened !== null) return opened;
    const { columns, reading, input } = this.#positions[this.#at]!;
    return open({ ...from, columns, reading, ...(input === undefined ? {} : { input }) });
  }

  #record(): void {
    const position = this.#positions[this.#at];
    if (this.#source === null || position === undefined) return;
    const input = this.#source.checksum() ?? position.input;
    this.#positions[this.#at] = {
      ...position,
      ...(input === undefined ? {} : { input }),
      warnings: [...this.#source.warnings],
    };
  }
}

interface FilePlace {
  readonly name: string;
  /** Its item column, if rows name theirs. */
  readonly column: string | undefined;
  readonly start: { readonly offset: number; readonly row: number };
  /** All columns, and the index of each in the file or -1; null if the file has the same ones. */
  readonly columns: readonly string[];
  readonly places: readonly number[] | null;
}

/** A row of one of several files: counted across them, with a cell for every column. */
function fileRow(row: Row, { name, column, start, columns, places }: FilePlace): Row {
  const placed = <Value>(values: readonly Value[], missing: Value): readonly Value[] =>
    places === null ? values : places.map((index) => values[index] ?? missing);
  const ownColumn = row.column ?? column;
  return {
    ...row,
    number: start.row + row.number,
    end: start.offset + row.end,
    file: name,
    ...(ownColumn !== undefined && { column: ownColumn }),
    ...(row.nulls !== undefined && { nulls: placed(row.nulls, false) }),
    ...(row.json !== null && places !== null
      ? flatten(row.json, columns)
      : { cells: placed(row.cells, "") }),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

interface ColumnUnion {
  readonly columns: readonly string[];
  /** Per input, the index of each of these columns in it, or -1; null if both lists are the same. */
  readonly places: readonly (readonly number[] | null)[];
}

/**
 * Unites columns by name, ignoring spaces around it. A name that an input has twice is there twice.
 */
function uniteColumns(lists: readonly (readonly string[])[]): ColumnUnion {
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
    places: keyed.map((keys) => {
      const isSame = keys.length === union.length && keys.every((key, n) => key === union[n]);
      if (isSame) return null;
      const indexes = new Map(keys.map((key, index) => [key, index]));
      return union.map((key) => indexes.get(key) ?? -1);
    }),
  };
}

/** The types of united columns; undefined if all inputs are text. */
function uniteTypes(
  { columns, places }: ColumnUnion,
  files: readonly Pick<FilePosition, "name" | "types">[],
): readonly InputType[] | undefined {
  if (files.every(({ types }) => types === undefined)) return undefined;
  return columns.map((_, index) => {
    const found = files.flatMap(({ name, types }, file) => {
      const place = places[file]?.[index] ?? index;
      return place < 0 ? [] : [{ name, type: types === undefined ? text : types[place]! }];
    });
    return commonType(found);
  });
}

const text: InputType = { type: "text", declared: "text" };

/** The type that a column has in all inputs; text if a text input has it. */
function commonType(
  found: readonly { readonly name: string; readonly type: InputType }[],
): InputType {
  const [first = { name: "", type: text }] = found;
  if (found.some(({ type }) => type === text)) return text;
  const other = found.find(({ type }) => type.type !== first.type.type);
  if (other === undefined) return first.type;
  const declared = [first, other].map(({ name, type }) => `${type.declared} in ${name}`);
  return { type: null, declared: declared.join(" and ") };
}

function keysOf(columns: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return columns.map((column) => {
    const name = column.trim();
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return `${count} ${name}`;
  });
}
