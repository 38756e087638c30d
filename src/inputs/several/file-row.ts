import type { Row } from "../../core/row.js";
import { flatten } from "../../formats/ndjson/ndjson-row.js";

export interface FilePlace {
  readonly name: string;
  /** Its item column, where files have several and this one has one. */
  readonly column: string | undefined;
  readonly start: { readonly offset: number; readonly row: number };
  /** All columns, and the index of each in the file or -1; null if the file has the same ones. */
  readonly columns: readonly string[];
  readonly places: readonly number[] | null;
}

/** A row of one of several files: counted across them, with a cell for every column. */
export function fileRow(row: Row, { name, column, start, columns, places }: FilePlace): Row {
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
