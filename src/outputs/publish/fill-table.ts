import { systemClock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import type { BatchBounds } from "../warehouse/column-batch.js";
import { quoteIdentifier, quoteTable } from "../sql/dialect.js";
import { prepareRuns, recordRun } from "../warehouse/run-records.js";
import { placeOf } from "../warehouse/saved-rows.js";
import { cellsEncoder, isFilledIn } from "../warehouse/row-cells.js";
import {
  type Batches,
  type Connect,
  type TableSession,
  withDatabase,
} from "../warehouse/table-database.js";
import type { TableTarget } from "../warehouse/target.js";
import { stagedColumns, type TableSchema, tableSchema } from "../sql/table-schema.js";
import { stagedBatches } from "./table.js";
import type { Publication, PublicationOptions } from "../publication.js";

/**
 * Rows in one transaction of DuckDB. If one updates as many rows as a row group of large rows has, its
 * log cannot be replayed after a crash (duckdb/duckdb#24744).
 */
const transactionBounds: BatchBounds = { rows: 2_000, characters: 8 * 1024 * 1024 };

/**
 * Prepares to fill in rows of a run where they are, by their key. Rows without a new finding are not
 * staged.
 */
export async function fillTable(
  connect: Connect,
  target: TableTarget,
  options: PublicationOptions,
): Promise<Publication> {
  const { prefix, optional, runId, clock = systemClock } = options;
  const { kind } = target;
  const whole = tableSchema(kind, { columns: [], prefix, optional });
  const columns = whole.columns.filter(
    (column) => column.from.kind !== "added" || isFilledIn(column),
  );
  const schema = { ...whole, columns };
  const encoder = cellsEncoder(schema, options);
  // Checks before the first request whether rows may be filled in.
  await withDatabase(connect, { ...options, access: "check" }, (database) =>
    database.transaction(async (session) => {
      await update(session, target, schema, []);
      await prepareRuns(session, await placeOf(session, target));
    }, "ROLLBACK"),
  );
  return {
    columns: stagedColumns(columns),
    encoder: {
      ...encoder,
      encode: (rows) => encoder.encode(rows.filter(({ finding, row }) => finding !== row.earlier)),
    },
    takesParts: true,
    prepare: () => Promise.resolve(null),
    async commit(stage, _, manifest = null) {
      if (!stage.exists) return;
      const all = (): Batches =>
        stagedBatches(stage, { columns, clock, bounds: transactionBounds });
      await withDatabase(connect, { ...options, access: "write" }, async (database) => {
        // A lost connection repeats a transaction from its first row.
        const fill = (batches: () => Batches, isLast: boolean): Promise<void> =>
          database.transaction(async (session) => {
            await session.lock?.(`run ${runId}`);
            await update(session, target, schema, batches());
            if (!isLast || manifest === null) return;
            const runs = await prepareRuns(session, await placeOf(session, target));
            await recordRun(session, runs, { manifest, now: clock.now() });
          });
        if (kind === "duckdb") for await (const batch of all()) await fill(() => [batch], false);
        await fill(kind === "duckdb" ? () => [] : all, true);
        await database.settle?.();
      });
    },
  };
}

async function update(
  session: TableSession,
  target: TableTarget,
  { columns, rowKey }: TableSchema,
  batches: Batches,
): Promise<void> {
  const { kind, display } = target;
  const quoted = (name: string): string => quoteIdentifier(kind, name);
  const to = quoteTable(kind, await placeOf(session, target));
  const from = quoteTable(kind, await session.loadTemporary(columns, batches));
  const same = rowKey.map((name) => `t.${quoted(name)} = f.${quoted(name)}`).join(" AND ");
  const [found = []] = await session.query(
    `SELECT (SELECT count(*) FROM ${from}), (SELECT count(*) FROM ${to} t JOIN ${from} f ON ${same})`,
  );
  const [rows = 0, there = 0] = found.map(Number);
  const lost = rows - there;
  if (lost !== 0) {
    throw new FatalError(
      "output_table_differs",
      `${display} has lost ${lost} of ${rows} rows since they were read`,
      { hint: "start over with --restart" },
    );
  }
  const changes = columns
    .filter(({ name }) => !rowKey.includes(name))
    .map(({ name }) => `${quoted(name)} = f.${quoted(name)}`);
  await session.query(
    `UPDATE ${to} AS t SET ${changes.join(", ")} FROM ${from} AS f WHERE ${same}`,
  );
  await session.query(`DROP TABLE ${from}`);
}
