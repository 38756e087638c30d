import type { CellValue } from "../../formats/typed-column.js";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ColumnType } from "../../core/columns.js";
import { checkedLine, openSideFile, readCheckedLines, type SideFile } from "./side-file.js";

type Columns = readonly (readonly CellValue[])[];

/**
 * Stores the rows of the unfinished row group, one line of checksummed JSON per row, so that a
 * checkpoint need not end the group: tiny groups make a poor Parquet file.
 *
 * Each group has its own file. Files of earlier groups stay until no checkpoint needs them.
 */
export class RowSpill {
  readonly #folder: string;
  #group: number;
  #file: SideFile | null = null;
  /** Rows of the group in the file. */
  #rows = 0;
  /** The earliest group whose file may still exist. */
  #oldest: number;

  constructor(folder: string, group: number) {
    this.#folder = folder;
    this.#group = group;
    this.#oldest = group;
  }

  /** Index of the unfinished group, from 0. */
  get group(): number {
    return this.#group;
  }

  /**
   * Reads the first `rows` rows that an interrupted run stored and appends after them.
   * @throws FatalError `output_*`; `output_state_damaged` if they are damaged
   */
  async restore(
    rows: number,
    types: readonly ColumnType[],
  ): Promise<readonly (readonly CellValue[])[]> {
    const restored: (readonly CellValue[])[] = [];
    if (rows === 0) return restored;
    const path = this.#path(this.#group);
    const lines = await readCheckedLines(path);
    while (restored.length < rows) restored.push(parseRow(lines.next(), types));
    this.#file = await openSideFile(path, lines.length);
    this.#rows = rows;
    return restored;
  }

  /** Makes the group's first `rows` rows durable, writing only the new ones. */
  async keep(columns: Columns, rows: number): Promise<void> {
    if (rows === this.#rows) return;
    this.#file ??= await openSideFile(this.#path(this.#group), null);
    let text = "";
    for (let row = this.#rows; row < rows; row++) text += rowLine(columns, row);
    await this.#file.append(text);
    await this.#file.sync();
    this.#rows = rows;
  }

  /** Starts the next group. */
  async next(): Promise<void> {
    await this.close();
    this.#group++;
    this.#rows = 0;
  }

  /** Deletes the files of groups before `group`. */
  async deleteBefore(group: number): Promise<void> {
    for (; this.#oldest < group; this.#oldest++) {
      await rm(this.#path(this.#oldest), { force: true });
    }
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
