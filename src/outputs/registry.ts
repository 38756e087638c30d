import { didYouMean } from "../core/text/did-you-mean.js";
import { UsageError } from "../core/errors.js";
import { parseDataSetTarget } from "./data-set/data-set.js";
import { localPath } from "./staged-output.js";
import type { TableInput } from "./tables/types.js";
import type { FoundRows } from "./warehouse/fill-rows.js";
import type { TableTarget } from "./warehouse/table-database.js";
import type { Connect } from "./warehouse/table-warehouse.js";
import {
  addressScheme,
  namesTable,
  parseDuckdbTarget,
  parseParquetTarget,
  parsePostgresTarget,
} from "./warehouse/target.js";
import type {
  OpenedWarehouse,
  SavedRows,
  SavedRowsOptions,
  UnfinishedRun,
  WarehouseAudit,
  WarehouseKind,
  WarehouseOptions,
  RunIdentity,
  WarehouseTarget,
} from "./warehouse/types.js";

/** A warehouse output that isn't opened yet. */
export interface Warehouse {
  readonly target: WarehouseTarget;
  /** Opens the output. Creates a missing table. @throws ReputeError */
  open(options: WarehouseOptions): Promise<OpenedWarehouse>;
  /** Deletes the rows of an unfinished run (`--restart`). @throws ReputeError */
  discard(run: UnfinishedRun): Promise<void>;
  /** Counts a finished run's rows; null if the kind can't. @throws ReputeError */
  recount(run: RunIdentity): Promise<WarehouseAudit | null>;
  /** Opens the saved rows for reading; null where the kind cannot. @throws ReputeError */
  rows(options: SavedRowsOptions): Promise<SavedRows | null>;
  /** Null where rows cannot be changed. */
  readonly fill: TableFill | null;
}

/** Fills in rows of a table. */
export interface TableFill {
  /** Finds a run, and what selects its rows. @throws ReputeError */
  find(options: {
    readonly prefix: string;
    /** Null for the newest run. */
    readonly runId: string | null;
  }): Promise<FoundRows>;
  /** What selects kind and item of all rows; null for a table that does not exist. @throws ReputeError */
  items(options: { readonly prefix: string }): Promise<string | null>;
  /** What a query on the table's database reads. */
  input(query: string): Promise<TableInput>;
  /** Opens the rows of a run. @throws ReputeError */
  open(options: WarehouseOptions): Promise<OpenedWarehouse>;
}

/** Parses `-o`: a warehouse of one kind, or null. */
export type FindWarehouse = (output: string) => Warehouse | null;

// Loaded on demand: most runs write text files.
const parquet = () => import("./parquet/open-parquet.js");
const parquetReader = () => import("./parquet/read-back.js");
const tables = () => import("./warehouse/table-warehouse.js");
const inputs = () => import("./find-table.js");
const duckdb = () => import("./duckdb/duckdb-database.js");
const postgres = () => import("./postgres/postgres-database.js");

/** All warehouses that can be written. To add one, write its file and add it here. */
export const warehouses: readonly FindWarehouse[] = [
  defineWarehouse({
    parse: parseParquetTarget,
    open: async (target, options) => (await parquet()).openParquet(target, options),
    recount: async ({ file }, run) => (await parquetReader()).readBack(file, run),
    rows: async ({ file }, options) =>
      (await import("./parquet/saved-rows.js")).parquetRows(file, options),
  }),
  defineWarehouse({
    parse: parseDataSetTarget,
    open: async (target, options) =>
      (await import("./data-set/open-data-set.js")).openDataSet(target, options),
  }),
  defineTable(
    parseDuckdbTarget,
    async (target, options) => (await duckdb()).DuckdbDatabase.open(target, options),
    async (target, query) => (await inputs()).duckdbInput(target, { query }),
  ),
  defineTable(
    parsePostgresTarget,
    async (target, options) => (await postgres()).PostgresDatabase.open(target, options),
    async (target, query) => (await inputs()).postgresInput(target, { query }),
  ),
];

/**
 * The warehouse named by `-o`, or null for a text file or a stream.
 * @throws UsageError `bad_output`, `bad_table`, `parquet_gzip`, `unknown_output`
 */
export function findWarehouse(output: string, kinds = warehouses): Warehouse | null {
  const path = localPath(output);
  for (const kind of kinds) {
    const found = kind(path);
    if (found !== null) return found;
  }
  const scheme = addressScheme(path);
  if (scheme === null) return null;
  const meant = didYouMean(scheme, ["duckdb", "postgres", "postgresql"]);
  const near = meant === null ? "" : ` (did you mean ${meant}:?)`;
  // Don't print the address: it may contain a password.
  throw new UsageError("unknown_output", `cannot write to ${scheme}: addresses${near}`, {
    hint: "write to a file, FILE.parquet, s3://BUCKET/KEY, duckdb:FILE?table=NAME or postgres://…?table=NAME; to use a file name with a colon, write ./NAME",
  });
}

/** Registry entry of a warehouse kind. */
export function defineWarehouse<T extends WarehouseTarget>(
  kind: WarehouseKind<T>,
  fillOf: (target: T) => TableFill | null = () => null,
): FindWarehouse {
  return (output) => {
    const target = kind.parse(output);
    if (target === null) return null;
    return {
      target,
      open: (options) => kind.open(target, options),
      discard: async (run) => kind.discard?.(target, run),
      recount: async (run) => (await kind.recount?.(target, run)) ?? null,
      rows: async (options) => (await kind.rows?.(target, options)) ?? null,
      fill: fillOf(target),
    };
  };
}

/** Registry entry of a database. */
function defineTable<T extends TableTarget>(
  parse: (output: string) => T | null,
  connect: Connect<T>,
  inputOf: (target: T, query: string) => Promise<TableInput>,
): FindWarehouse {
  const kind: WarehouseKind<T> = {
    parse: (output) => namesTable(output, parse(output)),
    open: async (target, options) => (await tables()).openTable(connect, target, options),
    discard: async (target, run) => (await tables()).discardRows(connect, target, run),
    recount: async (target, run) => (await tables()).recountRows(connect, target, run),
    rows: async (target, options) =>
      (await import("./warehouse/saved-rows.js")).tableRows(connect, target, options),
  };
  const fills = () => import("./warehouse/fill-rows.js");
  return defineWarehouse(kind, (target) => ({
    find: async (options) => (await fills()).findSavedRun(connect, target, options),
    items: async (options) => (await fills()).savedItemsQuery(connect, target, options),
    input: (query) => inputOf(target, query),
    open: async (options) =>
      (await import("./warehouse/filling-sink.js")).openFilling(connect, target, options),
  }));
}
