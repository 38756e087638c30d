import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { TableTarget } from "./table-database.js";
import type { Connect } from "./table-warehouse.js";
import {
  addressScheme,
  parseDuckdbTarget,
  parseParquetTarget,
  parsePostgresTarget,
} from "./target.js";
import type {
  OpenedWarehouse,
  SavedRows,
  SavedRowsOptions,
  UnfinishedRun,
  WarehouseAudit,
  WarehouseKind,
  WarehouseOptions,
  WarehouseRun,
  WarehouseTarget,
} from "./types.js";

/** An output that is a warehouse, not opened yet. */
export interface Warehouse {
  readonly target: WarehouseTarget;
  /** Opens it; a missing table is created, a lacking one refused. @throws ReputeError */
  open(options: WarehouseOptions): Promise<OpenedWarehouse>;
  /** Takes the rows of an unfinished run out again (`--restart`). @throws ReputeError */
  discard(run: UnfinishedRun): Promise<void>;
  /** Counts what is there of a finished run; null where the kind cannot. @throws ReputeError */
  recount(run: WarehouseRun): Promise<WarehouseAudit | null>;
  /** Opens the saved rows for reading; null where the kind cannot. @throws ReputeError */
  rows(options: SavedRowsOptions): Promise<SavedRows | null>;
}

/** Reads `-o`: the warehouse of one kind that it names, or null. */
export type FindWarehouse = (output: string) => Warehouse | null;

// Each is loaded when an output names it: most runs write a text file.
const parquet = () => import("../parquet/open-parquet.js");
const parquetReader = () => import("../parquet/read-back.js");
const tables = () => import("./table-warehouse.js");
const duckdb = () => import("../duckdb/duckdb-database.js");
const postgres = () => import("../postgres/postgres-database.js");

/** Every warehouse that can be written; another one is one file and one line here. */
export const warehouses: readonly FindWarehouse[] = [
  defineWarehouse({
    parse: parseParquetTarget,
    open: async (target, options) => (await parquet()).openParquet(target, options),
    recount: async ({ file }, run) => (await parquetReader()).readBack(file, run),
    rows: async ({ file }, options) =>
      (await import("../parquet/saved-rows.js")).parquetRows(file, options),
  }),
  defineTable(parseDuckdbTarget, async (target, options) =>
    (await duckdb()).DuckdbDatabase.open(target, options),
  ),
  defineTable(parsePostgresTarget, async (target, options) =>
    (await postgres()).PostgresDatabase.open(target, options),
  ),
];

/**
 * The warehouse that `-o` names, or null when the output is a text file or a stream.
 *
 * @throws UsageError `bad_output`, `bad_table`, `parquet_gzip`, `unknown_output`
 */
export function findWarehouse(output: string, kinds = warehouses): Warehouse | null {
  for (const kind of kinds) {
    const found = kind(output);
    if (found !== null) return found;
  }
  const scheme = addressScheme(output);
  if (scheme === null) return null;
  const meant = didYouMean(scheme, ["duckdb", "postgres", "postgresql"]);
  const near = meant === null ? "" : ` (did you mean ${meant}:?)`;
  // The address itself is not shown: it may hold a password.
  throw new UsageError("unknown_output", `there is no output for ${scheme}: addresses${near}`, {
    hint: "write to a file, FILE.parquet, duckdb:FILE?table=NAME or postgres://…?table=NAME; a file with a colon in its name is ./NAME",
  });
}

/** A line of the registry: what a kind makes of `-o`, joined with how that is opened. */
export function defineWarehouse<T extends WarehouseTarget>(kind: WarehouseKind<T>): FindWarehouse {
  return (output) => {
    const target = kind.parse(output);
    if (target === null) return null;
    return {
      target,
      open: (options) => kind.open(target, options),
      discard: async (run) => kind.discard?.(target, run),
      recount: async (run) => (await kind.recount?.(target, run)) ?? null,
      rows: async (options) => (await kind.rows?.(target, options)) ?? null,
    };
  };
}

/** A line of the registry for a kind of database. */
function defineTable<T extends TableTarget>(
  parse: (output: string) => T | null,
  connect: Connect<T>,
): FindWarehouse {
  return defineWarehouse({
    parse,
    open: async (target, options) => (await tables()).openTable(connect, target, options),
    discard: async (target, run) => (await tables()).discardRows(connect, target, run),
    recount: async (target, run) => (await tables()).recountRows(connect, target, run),
    rows: async (target, options) =>
      (await import("./saved-rows.js")).tableRows(connect, target, options),
  });
}
