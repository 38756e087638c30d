import { once } from "node:events";
import type { CliContext } from "../command.js";
import { TerminalTable } from "./terminal-table.js";

/** Takes records in the order in which they are to be shown. */
export interface DataOutput<T> {
  add(record: T): Promise<void>;
  /** Shows what could not be shown before all was there. */
  end(): Promise<void>;
}

/** Columns of a table: the title, and what stands below it. */
type DataColumns<T> = readonly (readonly [title: string, cell: (record: T) => string])[];

/** Whether data goes out as lines of JSON: to anything but a terminal, and where `--json` says so. */
export function wantsLines(json: boolean, { stdout }: Pick<CliContext, "stdout">): boolean {
  return json || stdout.isTTY !== true;
}

/** The part of a command's call that says where its data goes, and in which form. */
export interface OutputCall {
  readonly settings: { readonly json: boolean };
  readonly context: Pick<CliContext, "stdout" | "signal">;
}

/** Shows records: one JSON object a line as they come, or a table on a terminal. */
export function dataOutput<T>(
  { settings, context }: OutputCall,
  columns: DataColumns<T>,
  toLine: (record: T) => string = JSON.stringify,
): DataOutput<T> {
  if (wantsLines(settings.json, context)) {
    return {
      add: (record) => writeText(context, `${toLine(record)}\n`),
      end: () => Promise.resolve(),
    };
  }
  const table = new TerminalTable(
    context,
    columns.map(([title]) => title),
  );
  return {
    add: (record) => table.add(columns.map(([, cell]) => cell(record))),
    end: () => table.end(),
  };
}

/**
 * Writes to stdout and resolves when there is room for more.
 *
 * @throws the signal's reason when it aborts first
 */
export async function writeText(
  { stdout, signal }: Pick<CliContext, "stdout" | "signal">,
  text: string,
): Promise<void> {
  if (stdout.write(text)) return;
  await once(stdout, "drain", { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
