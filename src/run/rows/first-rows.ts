import type { Row } from "../../core/row.js";
import type { OpenedSource } from "../../inputs/types.js";

/**
 * The first rows of a source. Ends without waiting for one more, which a pipe may never bring.
 *
 * @param limit maximum rows of the whole input; undefined for all
 * @param before rows that earlier sessions read
 */
export async function* firstRows(
  rows: OpenedSource["rows"],
  limit = Number.POSITIVE_INFINITY,
  before = 0,
): AsyncGenerator<readonly Row[]> {
  let left = limit - before;
  if (left <= 0) return;
  for await (const batch of rows) {
    yield batch.length > left ? batch.slice(0, left) : batch;
    left -= batch.length;
    if (left <= 0) return;
  }
}
