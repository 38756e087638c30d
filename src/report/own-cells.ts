import type { EarlierRecord } from "../formats/types.js";
import { cutText } from "./cut-text.js";

/** Columns of the input shown for an item; further ones are counted. */
const mostColumns = 8;

/** Longest part of a cell that is kept: enough to recognise the row by. */
const longestCell = 160;

type OwnCells = readonly (readonly [name: string, cell: string])[];

/** The cells of the input's own columns that are not empty, that of the item left out. */
export function ownCells(
  { cells, json }: Pick<EarlierRecord, "cells" | "json">,
  columns: readonly string[],
  itemColumn: string | null,
): OwnCells {
  const all =
    json === null
      ? cells.map((cell, index) => [columns[index] ?? "", cell] as const)
      : membersOf(json);
  const own = all.filter(([name, cell]) => cell !== "" && name !== itemColumn);
  const kept = own
    .slice(0, mostColumns)
    .map(([name, cell]) => [cutText(name, longestCell), cutText(cell, longestCell)] as const);
  const more = own.length - kept.length;
  return more > 0 ? [...kept, ["", `and ${more} more`]] : kept;
}

function membersOf(json: string): OwnCells {
  return Object.entries(JSON.parse(json) as Record<string, unknown>).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}
