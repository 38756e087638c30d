import { join } from "node:path";
import { copiedFolder } from "../../../helpers/temporary-folder.js";
import { queryDuckdb } from "../tables/warehouse-readers.js";

/** A column of every type that outputs keep: its expression in DuckDB, its type there and stored. */
interface TypedSample {
  readonly sql: string;
  /** Extreme and special values as text, in rows of their own. */
  readonly edges: readonly string[];
  /** The type in DuckDB. */
  readonly type: string;
  /** The type that DuckDB sees in Parquet files and tables of repute. @default the same */
  readonly stored?: string;
  /** The type in PostgreSQL. */
  readonly postgres: string;
}

const random = "hash(n, 7)";

export const typedSamples: Readonly<Record<string, TypedSample>> = {
  tiny: {
    sql: "(n % 256 - 128)::TINYINT",
    edges: ["-128", "127"],
    type: "TINYINT",
    stored: "BIGINT",
    postgres: "bigint",
  },
  unsigned: {
    sql: `(${random} % 4294967296)::UINTEGER`,
    edges: ["4294967295"],
    type: "UINTEGER",
    stored: "BIGINT",
    postgres: "bigint",
  },
  big: {
    sql: `(${random} >> 1)::BIGINT`,
    edges: ["-9223372036854775808", "9223372036854775807"],
    type: "BIGINT",
    postgres: "bigint",
  },
  wide: {
    sql: random,
    edges: ["18446744073709551615", "0"],
    type: "UBIGINT",
    stored: "DECIMAL(20,0)",
    postgres: "numeric(20,0)",
  },
  cents: {
    sql: `((${random} % 1999999999)::BIGINT - 999999999)::DECIMAL(18,0)::DECIMAL(20,2) / 100`,
    edges: ["9999999.99", "-9999999.99", "-0.01", "0.10"],
    type: "DECIMAL(9,2)",
    postgres: "numeric(9,2)",
  },
  rate: {
    sql: `(${random} % 100000000000000000)::DECIMAL(17,0)::DECIMAL(28,4) / 10000`,
    edges: ["99999999999999.9999", "-0.0001"],
    type: "DECIMAL(18,4)",
    postgres: "numeric(18,4)",
  },
  exact: {
    sql: `(${random})::DECIMAL(28,0)`,
    edges: ["9999999999999999999999999999.9999999999", "-0.0000000001"],
    type: "DECIMAL(38,10)",
    postgres: "numeric(38,10)",
  },
  single: {
    sql: `(${random} / 3e12)::FLOAT`,
    edges: ["0.1", "NaN", "-Infinity", "1.17549435e-38", "-0"],
    type: "FLOAT",
    postgres: "real",
  },
  double: {
    sql: `${random} / 7.0`,
    edges: ["NaN", "Infinity", "-Infinity", "-0", "5e-324", "1.7976931348623157e308"],
    type: "DOUBLE",
    postgres: "double precision",
  },
  yes: { sql: "n % 2 = 0", edges: ["true", "false"], type: "BOOLEAN", postgres: "boolean" },
  day: {
    sql: "DATE '1900-01-01' + (n * 101)::INTEGER",
    edges: ["0001-01-01", "9999-12-31", "1969-12-31", "2024-02-29"],
    type: "DATE",
    postgres: "date",
  },
  local: {
    sql: `make_timestamp((${random} % 4000000000000000)::BIGINT)`,
    edges: ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999"],
    type: "TIMESTAMP",
    postgres: "timestamp without time zone",
  },
  seconds: {
    sql: "(TIMESTAMP '2024-01-01' + to_seconds(n))::TIMESTAMP_S",
    edges: ["1960-02-03 04:05:06"],
    type: "TIMESTAMP_S",
    stored: "TIMESTAMP",
    postgres: "timestamp without time zone",
  },
  zoned: {
    sql: `make_timestamptz((${random} % 4000000000000000)::BIGINT)`,
    edges: [
      "0001-01-01 00:00:00+00",
      "9999-12-31 23:59:59.999999+00",
      "2024-02-03 04:05:06.1+05:30",
    ],
    type: "TIMESTAMPTZ",
    stored: "TIMESTAMP WITH TIME ZONE",
    postgres: "timestamp with time zone",
  },
  nanos: {
    sql: `make_timestamp_ns((${random} % 4000000000000000000)::BIGINT)`,
    edges: ["1969-12-31 23:59:59.999999999"],
    type: "TIMESTAMP_NS",
    postgres: "text",
  },
  id: {
    sql: `(md5(n::VARCHAR))::UUID`,
    edges: ["ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"],
    type: "UUID",
    postgres: "uuid",
  },
  document: {
    sql: `('{"n": ' || n || ', "x": [1.50, "é\\"\\t"], "big": ' || ${random} || '}')::JSON`,
    edges: ['"text"', "null", "0.10", "[]", "true"],
    type: "JSON",
    postgres: "jsonb",
  },
  words: { sql: "'é|' || n", edges: ["", " ", "true"], type: "VARCHAR", postgres: "text" },
};

export const typedNames = Object.keys(typedSamples);

/** The types that DuckDB sees in Parquet files and tables of repute. */
export const storedTypes = Object.fromEntries(
  Object.entries(typedSamples).map(([name, { type, stored }]) => [name, stored ?? type]),
);

/** The types of the typed columns. @param from the rows, as something that DuckDB selects from */
export async function typesOf(from: string, file: string): Promise<Record<string, unknown>> {
  const rows = await queryDuckdb(
    `SELECT column_name, column_type FROM (DESCRIBE FROM ${from})`,
    file,
  );
  const types = new Map(rows.map((row) => [row["column_name"], row["column_type"]]));
  return Object.fromEntries(typedNames.map((name) => [name, types.get(name)]));
}

/** Rows with random values, rows with extreme ones, and one of nulls; each with an item. */
const typedQuery = (() => {
  const entries = Object.entries(typedSamples);
  const edges = Math.max(...entries.map(([, { edges: own }]) => own.length));
  const rowOf = (value: (sample: TypedSample) => string): string =>
    entries.map(([name, sample]) => `(${value(sample)})::${sample.type} AS ${name}`).join(", ");
  const item = "'host-' || n || '.example.com' AS item";
  const special = Array.from(
    { length: edges },
    (_, index) =>
      `SELECT ${rowOf(({ edges: own }) => (own[index] === undefined ? "NULL" : `'${own[index]}'`))}, 'edge-${index}.example.com' FROM range(1) t(n)`,
  );
  return [
    `SELECT ${rowOf(({ sql }) => sql)}, ${item} FROM range(200) t(n)`,
    ...special,
    `SELECT ${rowOf(() => "NULL")}, 'nulls.example.com'`,
  ].join(" UNION ALL ");
})();

/**
 * The values that a place lacks or has instead of those of the query: pairs of item and column.
 *
 * @param found the rows, as something to select from
 */
export async function differences(
  found: string,
  file: string,
  original = "original",
): Promise<readonly string[]> {
  const rows = await queryDuckdb(
    typedNames
      .map(
        (
          name,
        ) => `SELECT '${name}' AS name, o.item, o.${name}::VARCHAR AS before, f.${name}::VARCHAR AS after
         FROM ${original} o LEFT JOIN ${found} f ON o.item = f.item
         WHERE o.${name} IS DISTINCT FROM f.${name} OR f.item IS NULL`,
      )
      .join(" UNION ALL "),
    file,
  );
  return rows.map(({ name, item, before, after }) =>
    [name, item, before, after].map(String).join(" "),
  );
}

/**
 * Makes the typed rows once for a file of tests: a table `original` in `in.duckdb`, and `in.parquet`.
 *
 * @returns a function that copies both to a folder of the test
 */
export function useTypedInputs(): () => Promise<string> {
  return copiedFolder(async (made) => {
    const file = join(made, "in.duckdb");
    await queryDuckdb(`CREATE TABLE original AS ${typedQuery}`, file);
    await queryDuckdb(`COPY original TO '${made}/in.parquet' (FORMAT parquet)`, file);
  });
}
