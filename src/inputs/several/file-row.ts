import type { Row } from "../../core/row.js";
import { type Flat, flatten } from "../../formats/ndjson/ndjson-row.js";

/** Where a row of one file stands among several. */
export interface FilePlace {
  readonly name: string;
  /** Its item column, where files have several and this one has one. */
  readonly column: string | undefined;
  /** Rows and offset before the file. */
  readonly start: { readonly offset: number; readonly row: number };
  /** All columns, and the index of each in the file or -1; null if the file has the same ones. */
  readonly columns: readonly string[];
  readonly places: readonly number[] | null;
}

/** A row of one of several files: counted across them, with a cell for every column. */
export class FileRow implements Row {
  readonly number: number;
  readonly end: number;
  readonly line: number;
  readonly endLine: number;
  readonly json: string | null;
  readonly itemText: string;
  readonly itemNotText: boolean;
  readonly kindText: string;
  readonly fault: Row["fault"];
  readonly file: string;
  readonly column?: string;
  readonly continues?: boolean;
  readonly nulls?: readonly boolean[];
  readonly #columns: readonly string[];
  #flat: Flat | null;

  constructor(row: Row, { name, column = "", start, columns, places }: FilePlace) {
    this.number = start.row + row.number;
    this.end = start.offset + row.end;
    this.line = row.line;
    this.endLine = row.endLine;
    this.json = row.json;
    this.itemText = row.itemText;
    this.itemNotText = row.itemNotText === true;
    this.kindText = row.kindText;
    this.fault = row.fault;
    this.file = name;
    if (row.column !== undefined || column !== "") this.column = row.column ?? column;
    if (row.continues === true) this.continues = true;
    if (row.nulls !== undefined) this.nulls = placed(row.nulls, places, false);
    this.#columns = columns;
    this.#flat =
      row.json === null ? { cells: placed(row.cells, places, ""), extra: row.extra } : null;
  }

  get cells(): readonly string[] {
    return this.#members().cells;
  }

  get extra(): string | null {
    return this.#members().extra;
  }

  /** The members of an object become cells on first use, which nested output never needs. */
  #members(): Flat {
    this.#flat ??= flatten(this.json ?? "{}", this.#columns);
    return this.#flat;
  }
}

function placed<Value>(
  values: readonly Value[],
  places: readonly number[] | null,
  missing: Value,
): readonly Value[] {
  return places === null ? values : places.map((index) => values[index] ?? missing);
}
