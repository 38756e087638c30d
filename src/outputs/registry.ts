import { didYouMean } from "../core/text/did-you-mean.js";
import { UsageError } from "../core/errors.js";
import { parseDataSetTarget } from "./data-set/data-set.js";
import { localPath } from "./object-files.js";
import type { TableInput } from "./tables/types.js";
import type { FoundRows } from "./warehouse/fill-rows.js";
import type { Connect, TableTarget } from "./warehouse/table-database.js";
import type { Publication, PublicationOptions, PublishedAudit } from "./publication.js";
import {
  addressScheme,
  namesTable,
  parseDuckdbTarget,
  parseParquetTarget,
  parsePostgresTarget,
} from "./warehouse/target.js";
import type {
  SavedRows,
  SavedRowsOptions,
  RunIdentity,
  WarehouseTarget,
} from "./warehouse/types.js";

/** An output other than a text file: Parquet, a data set or a table. */
export interface Warehouse {
  readonly target: WarehouseTarget;
  /** Checks that a run's rows can be published here. @throws ReputeError */
  open(options: PublicationOptions): Promise<Publication>;
  /** Counts a finished run's rows; null if the kind can't. @throws ReputeError */
  recount(run: RunIdentity): Promise<PublishedAudit | null>;
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
  /** Checks that the rows of a run can be filled in. @throws ReputeError */
  open(options: PublicationOptions): Promise<Publication>;
}

/** Parses `-o`: a warehouse of one kind, or null. */
export type FindWarehouse = (output: string) => Warehouse | null;

// Loaded on demand: most runs write text files.
const inputs = () => import("./find-table.js");
const duckdb = () => import("./duckdb/duckdb-database.js");
const postgres = () => import("./postgres/postgres-database.js");

/** All warehouses that can be written. To add one, write its file and add it here. */
export const warehouses: readonly FindWarehouse[] = [
  (output) => {
    const target = parseParquetTarget(output);
    return (
      target && {
        target,
        open: async (options) =>
          (await import("./publish/parquet.js")).publishParquet(target, options),
        recount: async (run) => (await import("./parquet/read-back.js")).readBack(target.file, run),
        rows: async (options) =>
          (await import("./parquet/saved-rows.js")).parquetRows(target.file, options),
        fill: null,
      }
    );
  },
  (output) => {
    const target = parseDataSetTarget(output);
    return (
      target && {
        target,
        open: async (options) =>
          (await import("./publish/data-set.js")).publishDataSet(target, options),
        recount: () => Promise.resolve(null),
        rows: () => Promise.resolve(null),
        fill: null,
      }
    );
  },
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

/** Registry entry of a database. */
function defineTable<T extends TableTarget>(
  parse: (output: string) => T | null,
  connect: Connect<T>,
  inputOf: (target: T, query: string) => Promise<TableInput>,
): FindWarehouse {
  const saved = () => import("./warehouse/saved-rows.js");
  const fills = () => import("./warehouse/fill-rows.js");
  return (output) => {
    const target = namesTable(output, parse(output));
    return (
      target && {
        target,
        open: async (options) =>
          (await import("./publish/table.js")).publishTable(connect, target, options),
        recount: async (run) => (await saved()).recountRows(connect, target, run),
        rows: async (options) => (await saved()).tableRows(connect, target, options),
        fill: {
          find: async (options) => (await fills()).findSavedRun(connect, target, options),
          items: async (options) => (await fills()).savedItemsQuery(connect, target, options),
          input: (query) => inputOf(target, query),
          open: async (options) =>
            (await import("./publish/fill-table.js")).fillTable(connect, target, options),
        },
      }
    );
  };
}
