import type { EnrichedRow } from "../../../core/row.js";
import { memberTexts, objectText } from "../../../core/json-members.js";
import { matchColumn, unknownColumn } from "../../../io/formats/columns/name-columns.js";
import type { OpenedSource } from "../../../io/input/types.js";

/**
 * The columns that `--input-columns` names, in its order, and how a row has no others.
 *
 * @param names @default all
 * @throws UsageError `column_not_found`
 */
export function chosenColumns(
  { columns, types }: Pick<OpenedSource, "columns" | "types">,
  names: readonly string[] | undefined,
) {
  if (names === undefined) return { columns, types, only: (row: EnrichedRow) => row };
  const places = names.map((wanted) => {
    const place = matchColumn(columns, wanted);
    if (place !== null) return place;
    throw unknownColumn("the input", columns, { flag: "--input-columns", wanted });
  });
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
