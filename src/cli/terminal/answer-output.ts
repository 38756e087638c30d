import { answerCells, answerLine } from "../answered-item.js";
import type { AnsweredItem } from "../answered-item.js";
import type { CliContext } from "../command.js";
import { dataTable, jsonLines, wantsLines } from "./data-output.js";
import type { DataOutput } from "./data-output.js";

/** Columns of a table: the title there, and the name in the schema of rows, without prefix. */
export type AnswerColumns = readonly (readonly [title: string, column: string])[];

/** Shows answers to lookups by hand: lines of JSON, or a table on a terminal. */
export function answerOutput(
  {
    settings,
    context,
  }: { readonly settings: { readonly json: boolean }; readonly context: CliContext },
  columns: AnswerColumns,
): DataOutput<AnsweredItem> {
  if (wantsLines(settings.json, context)) return jsonLines(context, answerLine);
  return dataTable(
    context,
    columns.map(([title, name]) => [title, (answer) => answerCells(answer, [name])[0] ?? ""]),
  );
}
