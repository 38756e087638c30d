import { FatalError } from "../../core/errors.js";
import type { ColumnBatch, LoadSize } from "../warehouse/column-batch.js";
import type { Batches } from "../warehouse/table-database.js";

/**
 * DuckDB reads and writes rows in vectors of this many, whatever their size: 2,048 rows of a
 * megabyte take two gigabytes, in a checkpoint and in every later query.
 */
const vectorRows = 2_048;

/** Characters in a vector from which it is too large. */
const largeVector = 32 * 1024 * 1024;

/** Refuses rows that would make vectors that are too large. */
export class VectorLimit {
  readonly #display: string;
  #rows = 0;
  #characters = 0;

  constructor(display: string) {
    this.#display = display;
  }

  /** Adds rows that follow those before. @throws FatalError `output_memory` */
  add({ rows, characters }: LoadSize): void {
    if (this.#rows + rows > vectorRows) this.#rows = this.#characters = 0;
    this.#rows += rows;
    this.#characters += characters;
    if (this.#characters <= largeVector) return;
    const kilobytes = Math.round(this.#characters / this.#rows / 1024);
    throw new FatalError(
      "output_memory",
      `cannot write ${this.#display}: its rows have ${kilobytes} KB on average, and DuckDB holds ${vectorRows} of them in memory`,
      { hint: "write such rows to Parquet or PostgreSQL; with --cache nothing is asked again" },
    );
  }
}

/** Batches that pass a limit. @throws as `VectorLimit` */
export async function* limited(batches: Batches, limit: VectorLimit): AsyncGenerator<ColumnBatch> {
  for await (const batch of batches) {
    limit.add(batch);
    yield batch;
  }
}
