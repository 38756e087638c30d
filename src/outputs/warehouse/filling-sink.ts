import { FatalError } from "../../core/errors.js";
import type { EnrichedRow } from "../../core/row.js";
import type { Sink, SinkPosition, SinkResult } from "../types.js";
import { cellReaders } from "./cell-values.js";
import { type BatchBounds, ColumnBatch, boundsOf } from "./column-batch.js";
import { quoteIdentifier, quoteTable, sqlType, type TableName } from "./dialect.js";
import { findLargeRows, placeOf } from "./fill-rows.js";
import { isFilledIn } from "./row-cells.js";
import { RunRows } from "./run-rows.js";
import type { LoadSize, TableDatabase, TableSession, TableTarget } from "./table-database.js";
import { tableSchema, type TableSchema } from "./table-schema.js";
import { checkpointAt } from "./table-sink.js";
import type { Connect } from "./table-warehouse.js";
import type { OpenedWarehouse, WarehouseAudit, WarehouseOptions } from "./types.js";

/** Temporary table with the new values of a batch. */
const filled: TableName = { schema: null, name: "repute_filled" };

/**
 * Size of a batch. If a DuckDB transaction updates as many rows as a row group of large rows has, its
 * log cannot be replayed after a crash (duckdb/duckdb#24744).
 */
const fillBounds: BatchBounds = { rows: 2_000, characters: checkpointAt };

/** Opens the rows of a run to fill them in. */
export async function openFilling<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  options: WarehouseOptions,
): Promise<OpenedWarehouse> {
  const { runId, prefix, optional, resume, onWarning = () => undefined } = options;
  const database = await connect(target, { ...options, access: "write", onWarning });
  const whole = tableSchema(target.kind, { inputColumns: [], prefix, optional });
  const columns = whole.columns.filter(
    (column) => column.from.kind !== "added" || isFilledIn(column),
  );
  const schema = { ...whole, columns };
  const readers = cellReaders(schema, { runId, onWarning });
  try {
    const large = await findLargeRows(database, target, { runId, prefix }, resume !== null);
    const batch = () => new ColumnBatch(readers, fillBounds);
    const rows = resume?.rows ?? 0;
    const sink = new FillingSink({ database, target, schema, runId, batch, rows, large });
    return { sink, note: null, audit: () => sink.audit() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface FillingParts {
  readonly database: TableDatabase;
  readonly target: TableTarget;
  /** The key, and the columns that are filled in. */
  readonly schema: TableSchema;
  readonly runId: string;
  readonly batch: () => ColumnBatch;
  /** Rows passed in earlier sessions. */
  readonly rows: number;
  /** Sizes of large rows, by number. */
  readonly large: ReadonlyMap<number, number>;
}

/** New values of large rows, which one transaction writes. */
interface LargeBatch {
  readonly values: ColumnBatch;
  readonly numbers: number[];
  /** Characters of the rows in the table. */
  characters: number;
}

/**
 * Updates rows by their key. Rows without a new finding are only counted. Repeating a batch has no
 * effect, so that a resumed run may start from an older checkpoint.
 */
class FillingSink implements Sink {
  readonly #parts: FillingParts;
  #rows: number;
  #batches: ColumnBatch[] = [];
  #large: LargeBatch[] = [];

  constructor(parts: FillingParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
  }

  get full(): boolean {
    const batches = [...this.#batches, ...this.#large.map(({ values }) => values)];
    return boundsOf(batches).characters >= checkpointAt;
  }

  async write(rows: readonly EnrichedRow[]): Promise<void> {
    for (const enriched of rows) {
      this.#rows++;
      if (enriched.finding === enriched.row.earlier) continue;
      const number = enriched.row.savedNumber ?? enriched.row.number;
      const size = this.#parts.large.get(number);
      const batch = size === undefined ? this.#batch() : this.#largeBatch(number, size);
      batch.add(enriched);
    }
  }

  async checkpoint(): Promise<SinkPosition> {
    await this.#commit();
    return { length: this.#rows, rows: this.#rows };
  }

  audit(): Promise<WarehouseAudit> {
    const { database, target, runId, schema } = this.#parts;
    return database.transaction(async (session) => {
      const run = new RunRows(target.kind, await placeOf(session, target), {
        runId,
        prefix: schema.prefix,
      });
      return run.audit(session.query, target.display);
    });
  }

  async finish(): Promise<SinkResult> {
    const { database, target } = this.#parts;
    await this.#commit();
    await database.settle?.();
    await database.close();
    return { path: target.file, bytes: 0, rows: this.#rows };
  }

  async abandon(): Promise<void> {
    this.#batches = [];
    this.#large = [];
    await this.#parts.database.close();
  }

  #batch(): ColumnBatch {
    let batch = this.#batches.at(-1);
    if (batch === undefined || batch.full) this.#batches.push((batch = this.#parts.batch()));
    return batch;
  }

  #largeBatch(number: number, size: number): ColumnBatch {
    let batch = this.#large.at(-1);
    if (batch === undefined || batch.values.full || batch.characters >= checkpointAt) {
      this.#large.push((batch = { values: this.#parts.batch(), numbers: [], characters: 0 }));
    }
    batch.numbers.push(number);
    batch.characters += size;
    return batch.values;
  }

  async #commit(): Promise<void> {
    const { database, runId, schema, large } = this.#parts;
    const whole = large.size === 0 ? [this.#batches] : this.#batches.map((batch) => [batch]);
    for (const batches of whole) if (batches.length > 0) await this.#transaction(batches, null);
    this.#batches = [];
    for (const { values, numbers, characters } of this.#large) {
      const size = { rows: numbers.length, characters };
      const table = await this.#transaction([values], { numbers, size });
      await database.separate?.(table, { runId, prefix: schema.prefix }, size);
    }
    this.#large = [];
  }

  /** @param large says which rows to update one by one; null for all at once */
  async #transaction(
    batches: readonly ColumnBatch[],
    large: { readonly numbers: readonly number[]; readonly size: LoadSize } | null,
  ): Promise<TableName> {
    const { database, target, runId } = this.#parts;
    await database.expect?.(large?.size ?? boundsOf(batches));
    return database.transaction(async (session) => {
      await session.lock(`run ${runId}`);
      const table = await placeOf(session, target);
      await this.#update(session, table, batches, large?.numbers ?? null);
      return table;
    });
  }

  /** @param numbers rows that are updated one by one; default all at once */
  async #update(
    session: TableSession,
    table: TableName,
    batches: readonly ColumnBatch[],
    numbers: readonly number[] | null,
  ): Promise<void> {
    const { target, schema, runId } = this.#parts;
    const { kind, display } = target;
    const { columns, key } = schema;
    const quoted = (name: string): string => quoteIdentifier(kind, name);
    const definitions = columns.map(({ name, type }) => `${quoted(name)} ${sqlType(kind, type)}`);
    await session.query(`CREATE TEMPORARY TABLE ${filled.name} (${definitions.join(", ")})`);
    const place = { ...filled, schema: kind === "postgres" ? "pg_temp" : "temp" };
    await session.load(place, columns, batches);
    const from = quoteTable(kind, place);
    const to = quoteTable(kind, table);
    const same = key.map((name) => `t.${quoted(name)} = f.${quoted(name)}`).join(" AND ");
    const [found] = await session.query(`SELECT count(*) FROM ${to} t JOIN ${from} f ON ${same}`);
    const lost = boundsOf(batches).rows - Number(found?.[0]);
    if (lost !== 0) {
      throw new FatalError(
        "output_table_differs",
        `${display} has lost ${lost} of ${boundsOf(batches).rows} rows since they were read`,
        { hint: "start over with --restart" },
      );
    }
    const changes = columns
      .filter(({ name }) => !key.includes(name))
      .map(({ name }) => `${quoted(name)} = f.${quoted(name)}`);
    const update = `UPDATE ${to} AS t SET ${changes.join(", ")} FROM ${from} AS f WHERE ${same}`;
    if (numbers === null) await session.query(update);
    const [run = "", row = ""] = key.map(quoted);
    for (const number of numbers ?? []) {
      // Constants, so that the database reads no other row.
      await session.query(
        `${update} AND t.${run} = $1 AND t.${row} = ${number} AND f.${row} = ${number}`,
        [runId],
      );
    }
    await session.query(`DROP TABLE ${from}`);
  }
}
