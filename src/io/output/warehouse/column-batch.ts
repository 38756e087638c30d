import type { CellValue } from "../../formats/typed-column.js";

export interface BatchBounds {
  readonly rows: number;
  /** Characters of text in all cells. */
  readonly characters: number;
}

/** Collects rows as columns of typed values, for columnar outputs. */
export class ColumnBatch {
  columns: CellValue[][] = [];
  rows = 0;
  /** Characters of text in all cells. */
  characters = 0;
  readonly #bounds: BatchBounds;
  readonly #width: number;

  constructor(width: number, bounds: BatchBounds) {
    this.#bounds = bounds;
    this.#width = width;
    this.clear();
  }

  get full(): boolean {
    return this.rows >= this.#bounds.rows || this.characters >= this.#bounds.characters;
  }

  add(cells: readonly CellValue[]): void {
    for (const [index, column] of this.columns.entries()) {
      const value = cells[index] ?? null;
      column.push(value);
      if (typeof value === "string") this.characters += value.length;
      else if (typeof value === "object" && value !== null) {
        for (const entry of value) this.characters += entry.length;
      }
    }
    this.rows++;
  }

  clear(): void {
    this.columns = Array.from({ length: this.#width }, () => []);
    this.rows = 0;
    this.characters = 0;
  }
}
