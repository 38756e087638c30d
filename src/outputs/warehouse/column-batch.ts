import type { CellValue } from "../../formats/typed-column.js";
import type { EnrichedRow } from "../../core/row.js";
import type { CellReader } from "./cell-values.js";

/** Size at which a batch is full. */
export interface BatchBounds {
  readonly rows: number;
  /** Characters of text in all cells. */
  readonly characters: number;
}

/** Collects rows as columns of typed values, for columnar outputs. */
export class ColumnBatch {
  readonly #readers: readonly CellReader[];
  readonly #bounds: BatchBounds;
  #columns: CellValue[][];
  #rows = 0;
  #characters = 0;

  constructor(readers: readonly CellReader[], bounds: BatchBounds) {
    this.#readers = readers;
    this.#bounds = bounds;
    this.#columns = readers.map(() => []);
  }

  get rows(): number {
    return this.#rows;
  }

  get characters(): number {
    return this.#characters;
  }

  get full(): boolean {
    return this.#rows >= this.#bounds.rows || this.#characters >= this.#bounds.characters;
  }

  get columns(): readonly (readonly CellValue[])[] {
    return this.#columns;
  }

  add(enriched: EnrichedRow): void {
    this.addCells(this.#readers.map((read) => read(enriched)));
  }

  /** Adds a row of cells. */
  addCells(cells: readonly CellValue[]): void {
    for (const [index, column] of this.#columns.entries()) {
      const value = cells[index] ?? null;
      column.push(value);
      if (typeof value === "string") this.#characters += value.length;
      else if (typeof value === "object" && value !== null) {
        for (const entry of value) this.#characters += entry.length;
      }
    }
    this.#rows++;
  }

  clear(): void {
    this.#columns = this.#readers.map(() => []);
    this.#rows = 0;
    this.#characters = 0;
  }
}

/** Rows and characters of several batches. */
export function boundsOf(batches: readonly ColumnBatch[]): BatchBounds {
  return batches.reduce(
    (sum, { rows, characters }) => ({
      rows: sum.rows + rows,
      characters: sum.characters + characters,
    }),
    { rows: 0, characters: 0 },
  );
}
