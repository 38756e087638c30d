import type { ColumnType } from "../../../core/column.js";
import { columnTypes, joinedEntries } from "../../formats/column-types.js";
import type { CellValue } from "../../formats/typed-column.js";
import type { EarlierRecord } from "../../formats/types.js";
import { cellOf, type InputValue, numberValue } from "../tables/values.js";
import { stagedType, type TableColumn } from "../sql/table-schema.js";

/**
 * A record of the typed values of a row.
 *
 * @param added names of the first values' columns, without the prefix; the others are the input's own
 */
export function typedRecord(
  added: readonly string[],
  values: readonly InputValue[],
): EarlierRecord {
  const text = (name: string): string => textOf(values[added.indexOf(name)] ?? null);
  return {
    text,
    list: (name) => joinedEntries(text(name)),
    cells: values.slice(added.length).map(textOf),
    json: null,
    extra: text("extra") || null,
  };
}

function textOf(value: InputValue): string {
  return Array.isArray(value) ? value.map(textOf).join("|") : cellOf(value);
}

/** Returns a function that makes a record of a row's values. @param columns of the values */
export function recordReader(
  columns: readonly TableColumn[],
  prefix: string,
): (values: readonly InputValue[]) => EarlierRecord {
  const placesOf = (kind: string): readonly number[] =>
    columns.flatMap(({ from }, place) => (from.kind === kind ? [place] : []));
  const added = placesOf("added");
  const names = added.map((place) => (columns[place]?.name ?? "").slice(prefix.length));
  const places = [...added, ...placesOf("input")];
  return (values) => {
    const ordered = places.map((place) => values[place] ?? null);
    return typedRecord(names, ordered);
  };
}

export function cellsReader(
  columns: readonly TableColumn[],
  prefix: string,
): (cells: readonly CellValue[]) => EarlierRecord {
  const recordOf = recordReader(columns, prefix);
  const types = columns.map(stagedType);
  return (cells) => recordOf(cells.map((cell, index) => inputValue(cell, types[index] ?? "text")));
}

function inputValue(cell: CellValue, type: ColumnType): InputValue {
  const value = cell === null ? null : columnTypes[type].toValue(cell);
  return typeof value === "number" ? numberValue(String(value)) : value;
}
