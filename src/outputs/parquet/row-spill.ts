import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ColumnType } from "../../core/columns.js";
import type { CellValue } from "../warehouse/cell-values.js";
import { CheckedLines, checkedLine } from "./side-file.js";
import { SideFile } from "./side-file.js";

type Columns = readonly (readonly CellValue[])[];

/**
 * Keeps the rows of the row group that is not full yet, one line of JSON a row, so that a
 * checkpoint need not end the group: groups of a few rows would make a poor Parquet file. Each line
 * has a checksum.
 *
 * Each group has a file of its own; those of earlier groups stay until no checkpoint can need them.
 */
export class RowSpill {
  readonly #folder: string;
  #group: number;
  #file: SideFile | null = null;
  /** Rows of the group that the file holds. */
  #rows = 0;
  /** Earlier groups whose files are still there. */
  #earlier: number[] = [];

  constructor(folder: string, group: number) {
    this.#folder = folder;
    this.#group = group;
  }

  /** The group whose rows are kept, counted from 0. */
  get group(): number {
    return this.#group;
  }

  /**
   * Reads the first rows that an interrupted run kept and goes on behind them.
   *
   * @throws FatalError `output_*`; `output_state_damaged` when they are not as they were written
   */
  async restore(
    rows: number,
    types: readonly ColumnType[],
  ): Promise<readonly (readonly CellValue[])[]> {
    const restored: (readonly CellValue[])[] = [];
    if (rows === 0) return restored;
    const path = this.#path(this.#group);
    const lines = await CheckedLines.read(path);
    while (restored.length < rows) restored.push(parseRow(lines.next(), types));
    this.#file = await SideFile.open(path, lines.length);
    this.#rows = rows;
    return restored;
  }

  /** Makes the group's first `rows` rows durable; those that are already cost nothing. */
  async keep(columns: Columns, rows: number): Promise<void> {
    if (rows === this.#rows) return;
    this.#file ??= await SideFile.open(this.#path(this.#group), null);
    let text = "";
    for (let row = this.#rows; row < rows; row++) text += rowLine(columns, row);
    await this.#file.append(text);
    await this.#file.sync();
    this.#rows = rows;
  }

  /** The group is whole: the next rows are those of another one. */
  async next(): Promise<void> {
    if (this.#file !== null) this.#earlier.push(this.#group);
    await this.close();
    this.#group++;
    this.#rows = 0;
  }

  /** Removes the files of groups before this one. */
  async forgetBefore(group: number): Promise<void> {
    const gone = this.#earlier.filter((earlier) => earlier < group);
    this.#earlier = this.#earlier.filter((earlier) => earlier >= group);
    await Promise.all(gone.map((earlier) => rm(this.#path(earlier), { force: true })));
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }

  #path(group: number): string {
    return join(this.#folder, `parquet-rows-${group}.ndjson`);
  }
}

function rowLine(columns: Columns, row: number): string {
  const cells = columns.map((column) => {
    const value = column[row] ?? null;
    return typeof value === "bigint" ? String(value) : value;
  });
  return checkedLine(JSON.stringify(cells));
}

function parseRow(line: string, types: readonly ColumnType[]): readonly CellValue[] {
  const cells = JSON.parse(line) as (string | boolean | readonly string[] | null)[];
  return cells.map((value, index) => {
    const type = types[index];
    return typeof value === "string" && (type === "count" || type === "timestamp")
      ? BigInt(value)
      : value;
  });
}
