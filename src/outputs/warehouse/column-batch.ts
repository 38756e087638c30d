import type { CellValue } from "../../formats/typed-column.js";

/** Size at which a batch is full. */
export interface BatchBounds {
  readonly rows: number;
  /** Characters of text in all cells. */
  readonly characters: number;
}

/** Collects rows as columns of typed values, for columnar outputs. */
export class ColumnBatch {
  readonly #bounds: BatchBounds;
  readonly #width: number;
  #columns: CellValue[][] = [];
  #rows = 0;
  #characters = 0;

  /** @param width number of columns */
  constructor(width: number, bounds: BatchBounds) {
    this.#width = width;
    this.#bounds = bounds;
    this.clear();
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

  /** Adds a row of cells. */
  add(cells: readonly CellValue[]): void {
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
    this.#columns = Array.from({ length: this.#width }, () => []);
    this.#rows = 0;
    this.#characters = 0;
  }
}
