import { UsageError } from "../../core/errors.js";
import type { JsonObject } from "../../core/finding.js";
import type { Row } from "../../core/row.js";
import { quoted } from "../../core/wording/printable.js";
import { tlpFault, type TlpMark } from "../../core/exclusions/tlp.js";
import { matchColumn, namedColumn } from "../formats/columns/name-columns.js";
import { valuesAt } from "../formats/ndjson/ndjson.js";
import { mapLists } from "../formats/reading/lines.js";
import type { SourceSettings } from "../formats/source-options.js";
import type { ColumnPlace, FormatReading, ReadOptions, SourceLayout } from "../formats/types.js";

/** Which rows may be sent, by their mark of the Traffic Light Protocol. */
type TlpChoice = Pick<SourceSettings, "tlpColumn" | "maxTlp">;

/** Marks the rows that must not be sent as held. */
export function holdMarked(
  name: string,
  { columns, reading, rows }: FormatReading,
  choice: TlpChoice & Pick<ReadOptions, "isOneOfSeveral">,
  warnings: string[],
): FormatReading["rows"] {
  const { tlpColumn, maxTlp } = choice;
  const place = tlpPlace(columns, choice);
  if (maxTlp === undefined) {
    if (tlpColumn !== undefined) {
      throw new UsageError("tlp_without_limit", "--tlp-column does nothing without --max-tlp", {
        hint: "add --max-tlp clear, green, amber, amber+strict or red",
      });
    }
    if (place === null) return rows;
    const column = quoted(place.name);
    warnings.push(`rows are sent whatever their mark in column ${column}; --max-tlp sets a limit`);
    return rows;
  }
  const named = columns.filter((column) => customary.test(column.trim()));
  if (tlpColumn === undefined && named.length > 1) {
    const names = named.map((column) => quoted(column)).join(", ");
    const message = `${name} has several columns of TLP marks: ${names}`;
    throw new UsageError("tlp_ambiguous", message, { hint: "name one with --tlp-column" });
  }
  if (choice.isOneOfSeveral !== true) mustHaveMarks(name, { columns, reading }, choice);
  const path = tlpColumn ?? place?.name;
  const where = path === undefined ? "" : ` at ${quoted(path)}`;
  const marksOf = (row: Row): readonly string[] => {
    if (reading.format === "ndjson") return textsIn(row.json, path ?? "");
    return [place === null ? "" : (row.cells[place.index] ?? "")];
  };
  return heldRows(rows, marksOf, maxTlp, () =>
    warnings.push(`no record has a TLP mark${where} in ${name}, so none was sent`),
  );
}

/** @param onUnmarked called at the end if no row has a mark */
async function* heldRows(
  rows: FormatReading["rows"],
  marksOf: (row: Row) => readonly string[],
  most: TlpMark,
  onUnmarked: () => void,
): AsyncGenerator<readonly Row[]> {
  let [isAny, isMarked] = [false, false];
  yield* mapLists(rows, (row) => {
    if (row.fault !== null) return row;
    const marks = marksOf(row);
    isAny = true;
    isMarked ||= marks.some((mark) => mark !== "");
    const held = tlpFault(marks, most);
    return held === null ? row : { ...row, held };
  });
  if (isAny && !isMarked) onUnmarked();
}

/** Checks that there is a column of marks. Objects may have the member of a path later on. */
export function mustHaveMarks(
  name: string,
  { columns, reading }: SourceLayout,
  choice: TlpChoice,
): void {
  const { tlpColumn: wanted, maxTlp } = choice;
  if (maxTlp === undefined || tlpPlace(columns, choice) !== null) return;
  if (wanted === undefined) {
    throw new UsageError("tlp_without_column", `${name} has no column of TLP marks`, {
      hint: "name it with --tlp-column, or leave out --max-tlp",
    });
  }
  if (reading.format !== "ndjson") namedColumn(name, columns, { flag: "--tlp-column", wanted });
}

function tlpPlace(columns: readonly string[], { tlpColumn }: TlpChoice): ColumnPlace | null {
  const wanted = tlpColumn ?? columns.find((column) => customary.test(column.trim()));
  return wanted === undefined ? null : matchColumn(columns, wanted);
}

const customary = /^(?:tlp|marking|tlp[ _-]?(?:marking|mark|label|level|colou?r))$/i;

/** The texts of a member, or of the elements of a list. */
function textsIn(json: string | null, path: string): readonly string[] {
  const object = JSON.parse(json ?? "{}") as JsonObject;
  return valuesAt(path, object)
    .flat()
    .filter((value) => typeof value === "string");
}
