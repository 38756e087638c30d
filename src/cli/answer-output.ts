import { once } from "node:events";
import { alignedTable } from "./aligned-table.js";
import { answerCells, answerRecord } from "./answered-item.js";
import type { AnsweredItem } from "./answered-item.js";
import type { CliContext } from "./command.js";
import { printable } from "./printable.js";

/** Takes answers in the order in which they are to be shown. */
export interface AnswerOutput {
  /** Resolves when there is room for more. */
  add(answer: AnsweredItem): Promise<void> | void;
  /** Shows what could not be shown before all was there. */
  end(): void;
}

/** Columns of a table: the title there, and the name in the schema of rows, without prefix. */
export type AnswerColumns = readonly (readonly [title: string, column: string])[];

/** One JSON object a line, as answers come. */
export function answerLines({ stdout, signal }: CliContext): AnswerOutput {
  return {
    async add(answer) {
      if (stdout.write(`${JSON.stringify(answerRecord(answer))}\n`)) return;
      await once(stdout, "drain", { signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
    },
    end: () => undefined,
  };
}

/** One table of all answers at the end, for a terminal. */
export function answerTable({ stdout }: CliContext, columns: AnswerColumns): AnswerOutput {
  const rows: (readonly string[])[] = [];
  const titles = columns.map(([title]) => title);
  const names = columns.map(([, name]) => name);
  return {
    add: (answer) => void rows.push(answerCells(answer, names)),
    end: () => void stdout.write(printable(alignedTable(titles, rows, stdout.columns ?? 80))),
  };
}
