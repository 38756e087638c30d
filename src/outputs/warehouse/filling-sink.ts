import { FatalError } from "../../core/errors.js";
import type { EnrichedRow } from "../../core/row.js";
import type { Sink, SinkPosition, SinkResult } from "../types.js";
import { cellReaders } from "./cell-values.js";
import { ColumnBatch, sizeOf } from "./column-batch.js";
import { quoteIdentifier, quoteTable, sqlType, type TableName } from "./dialect.js";
import { isFilledIn } from "./row-cells.js";
import { RunRows } from "./run-rows.js";
import type { TableDatabase, TableSession, TableTarget } from "./table-database.js";
import { tableSchema, type TableSchema } from "./table-schema.js";
import { chunkBounds, checkpointAt } from "./table-sink.js";
import type { Connect } from "./table-warehouse.js";
import type { OpenedWarehouse, WarehouseAudit, WarehouseOptions } from "./types.js";

/** Temporary table with the new values of a batch. */
const filled: TableName = { schema: null, name: "repute_filled" };

/** Opens the rows of a run to fill them in. */
export async function openFilling<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  options: WarehouseOptions,
): Promise<OpenedWarehouse> {
  const { runId, prefix, optional, onWarning = () => undefined } = options;
  const database = await connect(target, { ...options, access: "write", onWarning });
  const whole = tableSchema(target.kind, { inputColumns: [], prefix, optional });
  const columns = whole.columns.filter(
    (column) => column.from.kind !== "added" || isFilledIn(column),
  );
  const schema = { ...whole, columns };
  const readers = cellReaders(schema, { runId, onWarning });
  const sink = new FillingSink({
    database,
    target,
    schema,
    runId,
    batch: () => new ColumnBatch(readers, chunkBounds),
    rows: options.resume?.rows ?? 0,
  });
  return { sink, note: null, audit: () => sink.audit() };
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
}

/**
 * Updates rows by their key. Rows without a new finding are only counted. Repeating a batch has no
 * effect, so that a resumed run may start from an older checkpoint.
 */
class FillingSink implements Sink {
  readonly #parts: FillingParts;
  #rows: number;
  #batches: ColumnBatch[] = [];

  constructor(parts: FillingParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
  }

  get full(): boolean {
    return sizeOf(this.#batches).characters >= checkpointAt;
  }

  async write(rows: readonly EnrichedRow[]): Promise<void> {
    for (const enriched of rows) {
      this.#rows++;
      if (enriched.finding === enriched.row.earlier) continue;
      let batch = this.#batches.at(-1);
      if (batch === undefined || batch.full) this.#batches.push((batch = this.#parts.batch()));
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
      const run = new RunRows(target.kind, await this.#place(session), {
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
    await this.#parts.database.close();
  }

  /** The table, with its schema. */
  async #place(session: TableSession): Promise<TableName> {
    const { table, display } = this.#parts.target;
    const found = await session.find(table);
    if (found !== null) return { ...table, schema: found.schema };
    throw new FatalError("output_missing", `there is no table ${display}`);
  }

  async #commit(): Promise<void> {
    const pending = sizeOf(this.#batches).rows;
    if (pending === 0) return;
    const { database, runId } = this.#parts;
    await database.transaction(async (session) => {
      await session.lock(`run ${runId}`);
      await this.#update(session, await this.#place(session), pending);
    });
    this.#batches = [];
  }

  async #update(session: TableSession, table: TableName, pending: number): Promise<void> {
    const { target, schema } = this.#parts;
    const { kind, display } = target;
    const { columns, key } = schema;
    const quoted = (name: string): string => quoteIdentifier(kind, name);
    const definitions = columns.map(({ name, type }) => `${quoted(name)} ${sqlType(kind, type)}`);
    await session.query(`CREATE TEMPORARY TABLE ${filled.name} (${definitions.join(", ")})`);
    const place = { ...filled, schema: kind === "postgres" ? "pg_temp" : "temp" };
    await session.load(place, columns, this.#batches);
    const from = quoteTable(kind, place);
    const to = quoteTable(kind, table);
    const same = key.map((name) => `t.${quoted(name)} = f.${quoted(name)}`).join(" AND ");
    const [found] = await session.query(`SELECT count(*) FROM ${to} t JOIN ${from} f ON ${same}`);
    if (Number(found?.[0]) !== pending) {
      throw new FatalError(
        "output_table_differs",
        `${display} has lost ${pending - Number(found?.[0])} of ${pending} rows since they were read`,
        { hint: "start over with --restart" },
      );
    }
    const changes = columns
      .filter(({ name }) => !key.includes(name))
      .map(({ name }) => `${quoted(name)} = f.${quoted(name)}`);
    await session.query(
      `UPDATE ${to} AS t SET ${changes.join(", ")} FROM ${from} AS f WHERE ${same}`,
    );
    await session.query(`DROP TABLE ${from}`);
  }
}
