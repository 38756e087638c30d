import { UsageError } from "../../core/errors.js";
import { localPath } from "./object-files.js";
import type { TableInput } from "./tables/types.js";
import type { FoundRows } from "./warehouse/saved-rows.js";
import type { Connect } from "./warehouse/table-database.js";
import type { Publication, PublicationOptions } from "./publication.js";
import {
  addressScheme,
  type DuckdbTarget,
  namesTable,
  parseDuckdbTarget,
  parseParquetTarget,
  parsePostgresTarget,
  type PostgresTarget,
  type WarehouseTarget,
} from "./warehouse/target.js";

/** An output other than a text file: Parquet or a table. */
export interface Warehouse {
  readonly target: WarehouseTarget;
  /** Checks that a run's rows can be published here. */
  open(options: PublicationOptions): Promise<Publication>;
  /** The rows of a table; null for files. */
  readonly rows: TableRows | null;
}

export interface TableRows {
  find(options: {
    readonly prefix: string;
    /** Null for the newest run. */
    readonly runId: string | null;
  }): Promise<FoundRows>;
  input(query: string): Promise<TableInput>;
}

/** Parses `-o`: a warehouse of one kind, or null. */
export type FindWarehouse = (output: string) => Warehouse | null;

// Loaded on demand: most runs write text files.
/** All warehouses that can be written. To add one, write its file and add it here. */
const warehouses: readonly FindWarehouse[] = [
  (output) => {
    const target = parseParquetTarget(output);
    return (
      target && {
        target,
        open: async (options) =>
          (await import("./publish/parquet.js")).publishParquet(target, options),
        rows: null,
      }
    );
  },
  (output) => {
    const target = namesTable(output, parseDuckdbTarget(output));
    if (target === null) return null;
    return tableOf(target, async (options) =>
      (await import("./duckdb/duckdb-database.js")).DuckdbDatabase.open(target, options),
    );
  },
  (output) => {
    const target = namesTable(output, parsePostgresTarget(output));
    if (target === null) return null;
    return tableOf(target, async (options) => {
      const { PostgresDatabase } = await import("./postgres/postgres-database.js");
      return new PostgresDatabase(target, options);
    });
  },
];

/** The warehouse named by `-o`, or null for a text file or a stream. */
export function findWarehouse(output: string): Warehouse | null {
  const path = localPath(output);
  for (const kind of warehouses) {
    const found = kind(path);
    if (found !== null) return found;
  }
  const scheme = addressScheme(path);
  if (scheme === null) return null;
  // Don't print the address: it may contain a password.
  throw new UsageError("unknown_output", `cannot write to ${scheme}: addresses`, {
    hint: "write to a file, FILE.parquet, s3://BUCKET/KEY, duckdb:FILE?table=NAME or postgres://…?table=NAME; to use a file name with a colon, write ./NAME",
  });
}

function tableOf(target: DuckdbTarget | PostgresTarget, connect: Connect): Warehouse {
  const saved = () => import("./warehouse/saved-rows.js");
  return {
    target,
    open: async (options) =>
      (await import("./publish/table.js")).publishTable(connect, target, options),
    rows: {
      find: async (options) => (await saved()).findSavedRun(connect, target, options),
      input: async (query) => (await import("./find-table.js")).databaseInput(target, { query }),
    },
  };
}
