import type { EnrichedRow } from "../../core/row.js";
import type { CellReader, CellValue } from "./cell-values.js";

/** How much a batch takes before it is full. */
export interface BatchBounds {
  readonly rows: number;
  /** Characters of text in all cells together. */
  readonly characters: number;
}

/** Rows turned into columns of typed values, for outputs that store columns. */
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

  /** Adds a row whose cells were read before. */
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
