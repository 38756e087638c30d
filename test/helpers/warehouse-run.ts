import { servedWorkspace } from "./workspace.js";

export interface Place {
  readonly kind: string;
  /** The value of `-o`, in the working folder. */
  readonly output: string;
  /** Path from which the names of the run's own files derive. */
  readonly base: string;
  /** Where a query finds the rows. */
  readonly from: string;
  /** The database file, if there is one. */
  readonly database?: string;
}

export const places: readonly Place[] = [
  {
    kind: "parquet",
    output: "out.parquet",
    base: "out.parquet",
    from: "read_parquet('FOLDER/out.parquet')",
  },
  {
    kind: "duckdb",
    output: "duckdb:out.duckdb?table=nightly",
    base: "out.duckdb.nightly",
    from: "nightly",
    database: "out.duckdb",
  },
];

/** Everything except what may differ between two runs over the same input. */
export const rowsWithoutTimes = (from: string): string =>
  `SELECT * EXCLUDE (rep_run_id, rep_loaded_at, rep_source, rep_looked_up_at) FROM ${from} ORDER BY rep_row`;

export const countOf = (from: string): string =>
  `SELECT count(*) AS n, count(DISTINCT (rep_run_id, rep_row)) AS keys, max(rep_row) AS last FROM ${from}`;

export type Prepared = Awaited<ReturnType<typeof prepared>>;

/** A working folder with `in.csv`, and a service that answers. */
export async function prepared(rows: number) {
  const place = await servedWorkspace({ "in.csv": inputOf(rows) });
  return {
    ...place,
    /** Number of items that are looked up. */
    distinct: rows - Math.floor(rows / 10),
    enrich: (args: readonly string[]) => place.ask("enrich", ...args, "--quiet"),
  };
}

/** Every tenth row repeats an earlier item; one in a hundred has none. */
function inputOf(rows: number): string {
  const lines = Array.from({ length: rows }, (_, n) => {
    if (n % 100 === 50) return `${n},setup.exe\n`;
    return `${n},host-${n % 10 === 9 ? n - 9 : n}.example.com\n`;
  });
  return `n,domain\n${lines.join("")}`;
}
