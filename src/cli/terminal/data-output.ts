import { wrapLines } from "../../core/text/quantity.js";
import { once } from "node:events";
import type { CliContext } from "./cli-context.js";
import { type ColorChoice, paintFor } from "./colors.js";
import { TerminalTable } from "./terminal-table.js";

/** Prints records in the order they are added. */
export interface DataOutput<T> {
  add(record: T): Promise<void>;
  /** Prints buffered records. */
  end(): Promise<void>;
}

/** Columns of a table: title and cell. */
type DataColumns<T> = readonly (readonly [title: string, cell: (record: T) => string])[];

/** Whether to print JSON lines: with `--json`, or if stdout is not a terminal. */
export function wantsLines(json: boolean, { stdout }: Pick<CliContext, "stdout">): boolean {
  return json || stdout.isTTY !== true;
}

/** The part of a call that says where and how to print data. */
export interface OutputCall {
  readonly settings: { readonly json: boolean; readonly color?: ColorChoice | undefined };
  readonly context: Pick<CliContext, "stdout" | "signal" | "env">;
}

interface DataForm<T> {
  readonly toLine?: (record: T) => string;
  /** Whether the last column wraps instead of being shortened. */
  readonly prose?: boolean;
}

/** Prints records as JSON lines, or as a table on a terminal. */
export function dataOutput<T>(
  call: OutputCall,
  columns: DataColumns<T>,
  { toLine = JSON.stringify, prose = false }: DataForm<T> = {},
): DataOutput<T> {
  const { settings, context } = call;
  if (wantsLines(settings.json, context)) {
    return {
      add: (record) => writeOut(context, `${toLine(record)}\n`),
      end: () => Promise.resolve(),
    };
  }
  const table = new TerminalTable(
    context.stdout,
    columns.map(([title]) => title),
    paintFor(call),
    prose,
  );
  return {
    add: async (record) => table.add(columns.map(([, cell]) => cell(record))),
    end: async () => table.end(),
  };
}

/** Prints sentences, wrapped between words on a terminal. */
export function writeProse(
  context: Pick<CliContext, "stdout" | "signal">,
  text: string,
  hanging?: number,
): Promise<void> {
  const { stdout } = context;
  const width = stdout.isTTY === true ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
  return writeOut(context, wrapLines(text, width, hanging));
}

/**
 * Writes to stdout and resolves once it can take more.
 *
 * @throws the signal's reason if it aborts first
 */
export async function writeOut(
  { stdout, signal }: Pick<CliContext, "stdout" | "signal">,
  text: string,
): Promise<void> {
  if (stdout.write(text)) return;
  await once(stdout, "drain", { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
