import { counted } from "../../../core/text/quantity.js";
import { printable } from "../../../core/text/printable.js";
import { paintFor } from "../../terminal/colors.js";
import {
  type DataOutput,
  dataOutput,
  type OutputCall,
  wantsLines,
  writeOut,
} from "../../terminal/data-output.js";
import { printCard, wrapWords } from "../../terminal/terminal-card.js";
import { answerCard, answerCell, type AnsweredItem, answerLine } from "./answer-card.js";

/** Columns of a table: title and name in the row schema, without prefix. */
export type AnswerColumns = readonly (readonly [title: string, column: string])[];

const firstColumns = ["item", "kind", "status", "verdict"].map((name) => [name, name] as const);

/**
 * Prints answers as JSON lines; on a terminal, one answer as a card and several as a table.
 *
 * @param own columns of the table besides item, kind, status, verdict and error
 */
export function answerOutput(call: OutputCall, own: AnswerColumns): DataOutput<AnsweredItem> {
  const columns: AnswerColumns = [...firstColumns, ...own, ["error", "error_code"]];
  const cells = columns.map(
    ([title, name]) => [title, (answer: AnsweredItem) => answerCell(answer, name)] as const,
  );
  const output = dataOutput(call, cells, { toLine: answerLine });
  if (wantsLines(call.settings.json, call.context)) return output;
  const errors = new Map<string, number>();
  let first: AnsweredItem | null = null;
  let count = 0;
  return {
    add: async (answer) => {
      count++;
      const { error } = answer.finding;
      if (error !== null) {
        const text = `${error.code}: ${error.message}`;
        errors.set(text, (errors.get(text) ?? 0) + 1);
      }
      if (count === 1) {
        first = answer;
        return;
      }
      if (first !== null) await output.add(first);
      first = null;
      await output.add(answer);
    },
    end: async () => {
      if (first !== null) printCard(call.context.stdout, answerCard(first), paintFor(call));
      await output.end();
      if (count > 1 && errors.size > 0) await writeOut(call.context, errorLines(call, errors));
    },
  };
}

/** Each error below the table: its code and message are too long for a column. */
function errorLines({ context }: OutputCall, errors: ReadonlyMap<string, number>): string {
  const width = context.stdout.columns || 80;
  const lines = [...errors].flatMap(([text, count]) => {
    const times = count > 1 ? ` (${counted(count, "item")})` : "";
    return wrapWords(printable(text.replaceAll("\n", " ")) + times, width - 2);
  });
  return `\n${lines.join("\n")}\n`;
}
