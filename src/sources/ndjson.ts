import type { Row } from "../core/row.js";
import { contentLines } from "./content-lines.js";
import { type ColumnFlag, matchColumn, matchCustomary } from "./find-column.js";
import { noItemColumn, unknownColumn } from "./column-errors.js";
import { type Line, readLines } from "./lines.js";
import { MemberPath } from "./member-path.js";
import { faultyRow, NdjsonRow } from "./ndjson-row.js";
import { NdjsonSample } from "./ndjson-sample.js";
import { type FormatReading, openSource, type Reading } from "./open-source.js";
import { parseRecord } from "./parse-record.js";
import type { OpenFormat, SourceOptions } from "./types.js";

/** Newline-delimited JSON, one object a line. */
export const openNdjson: OpenFormat = async (input, options) =>
  openSource(input, options, async (reading) => begin(reading, options));

async function begin(
  { bytes, resume, warnings }: Reading,
  { comment, itemColumn, kindColumn }: SourceOptions,
): Promise<FormatReading> {
  const lines = contentLines(
    readLines(bytes, resume?.line ?? 0, warnings),
    (text) => comment !== null && text.startsWith(comment),
  );
  const sample = new NdjsonSample(bytes.name, lines);
  if (resume === null) await sample.readObjects(1);
  const columns = resume?.columns ?? sample.columns;
  const named = async (flag: ColumnFlag): Promise<MemberPath> =>
    resume === null
      ? pathOf(flag, bytes.name, sample)
      : new MemberPath(matchColumn(columns, flag.wanted)?.name ?? flag.wanted);

  const kind =
    kindColumn === null ? null : await named({ flag: "--kind-column", wanted: kindColumn });
  const item =
    itemColumn === null
      ? customaryPath(bytes.name, columns, sample.hasObjects)
      : await named({ flag: "--item-column", wanted: itemColumn });
  const toRows = new RowMaker(columns, item, kind, resume?.row ?? 0);
  return { columns, itemColumn: item.name, rows: readRows(sample, toRows) };
}

/** The path that a flag names: a column, else what the first records have there. */
async function pathOf(flag: ColumnFlag, input: string, sample: NdjsonSample): Promise<MemberPath> {
  const column = matchColumn(sample.columns, flag.wanted);
  if (column !== null) return new MemberPath(column.name);
  const path = new MemberPath(flag.wanted);
  if (sample.hasObjects && !(await sample.includes(path))) {
    throw unknownColumn(input, sample.columns, flag);
  }
  return path;
}

function customaryPath(input: string, columns: readonly string[], hasColumns: boolean): MemberPath {
  const column = matchCustomary(columns);
  // Without an object there is nothing to choose from, and nothing to look up either.
  if (column === null && hasColumns) throw noItemColumn(input, columns);
  return new MemberPath(column?.name ?? "item");
}

async function* readRows(sample: NdjsonSample, toRows: RowMaker): AsyncGenerator<readonly Row[]> {
  for await (const lines of sample.lines()) yield toRows.make(lines);
}

class RowMaker {
  readonly #columns: readonly string[];
  readonly #item: MemberPath;
  readonly #kind: MemberPath | null;
  #number: number;

  constructor(
    columns: readonly string[],
    item: MemberPath,
    kind: MemberPath | null,
    rowsBefore: number,
  ) {
    this.#columns = columns;
    this.#item = item;
    this.#kind = kind;
    this.#number = rowsBefore;
  }

  make(lines: readonly Line[]): readonly Row[] {
    return lines.map((line) => this.#toRow(line));
  }

  #toRow(line: Line): Row {
    this.#number += 1;
    const json = line.text.trim();
    const { object, reason } = parseRecord(json);
    if (object === null) return faultyRow(line, reason, this.#number, this.#columns);
    return new NdjsonRow(line, json, this.#number, this.#columns, {
      item: this.#item.textIn(object, json),
      kind: this.#kind?.textIn(object, json) ?? "",
    });
  }
}
