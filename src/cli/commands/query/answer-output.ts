import { counted } from "../../../core/text/quantity.js";
import { printable } from "../../../core/text/printable.js";
import { paintFor } from "../../terminal/colors.js";
import { type OutputCall, printRecords, wantsLines, writeOut } from "../../terminal/data-output.js";
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
export async function printAnswers(
  call: OutputCall,
  answers: AsyncIterable<AnsweredItem>,
  own: AnswerColumns,
): Promise<void> {
  const columns = [...firstColumns, ...own, ["error", "error_code"] as const].map(
    ([title, name]) => [title, (answer: AnsweredItem) => answerCell(answer, name)] as const,
  );
  if (wantsLines(call)) return printRecords(call, answers, columns, { toLine: answerLine });
  const { context } = call;
  const all: AnsweredItem[] = [];
  for await (const answer of answers) all.push(answer);
  const [first, ...others] = all;
  if (first !== undefined && others.length === 0) {
    printCard(context.stdout, answerCard(first), paintFor(call));
    return;
  }
  await printRecords(call, all, columns);
  const lines = errorLines(all, context.stdout.columns || 80);
  if (lines.length > 0) await writeOut(context, `\n${lines.join("\n")}\n`);
}

/** Each error below the table: its code and message are too long for a column. */
function errorLines(answers: readonly AnsweredItem[], width: number): readonly string[] {
  const errors = new Map<string, number>();
  for (const { finding } of answers) {
    if (finding.error === null) continue;
    const text = `${finding.error.code}: ${finding.error.message}`;
    errors.set(text, (errors.get(text) ?? 0) + 1);
  }
  return [...errors].flatMap(([text, count]) => {
    const times = count > 1 ? ` (${counted(count, "item")})` : "";
    return wrapWords(printable(text.replaceAll("\n", " ")) + times, width - 2);
  });
}
