import { basename, resolve } from "node:path";
import { expect, it, test } from "vitest";
import type { ReputeError } from "../../../src/core/errors.js";
import { duckdb } from "../../../src/io/output/duckdb/dialect.js";
import { postgres } from "../../../src/io/output/postgres/dialect.js";
import { parseOutput } from "../../../src/io/output/registry.js";

it.each(["-", "out.csv", "out.ndjson.gz", "/dev/null", "./sqlite:out.csv", "C:out.csv", "a/b:c"])(
  "%s is text",
  (output) => {
    expect(parseOutput(output)).toMatchObject({ rules: null, isTable: false, isText: true });
  },
);

it.each(["Out.PARQUET", "out.parquet.failed"])("%s is a Parquet file", (output) => {
  const file = resolve(output);
  const parsed = parseOutput(output);
  expect(parsed).toMatchObject({ file, name: output, format: "parquet" });
  expect(parsed.base()).toBe(file);
});

const intel = "postgres://u:secret@db.example.com/intel";
const ofDuckdb = "write duckdb:FILE?table=NAME";

test.each([
  ["sqlite:out.db", "unknown_output", "cannot write to sqlite: addresses"],
  ["SQLite:out.parquet", "unknown_output", "cannot write to sqlite: addresses"],
  ["mysql://u:secret@localhost/db", "unknown_output", "cannot write to mysql: addresses"],
  ["out.parquet.gz", "parquet_gzip", "out.parquet.gz: Parquet files are already compressed"],
  ["duckdb:?table=a", "bad_output", "duckdb:?table=a does not name a DuckDB file", ofDuckdb],
  ["duckdb::memory:", "bad_output", "duckdb::memory: does not name a DuckDB file", ofDuckdb],
  ["duckdb:w.db?tabel=a", "bad_output", 'w.db has an unknown parameter "tabel"', ofDuckdb],
  ["duckdb:w.db?table=a&table=b", "bad_output", 'w.db has a repeated parameter "table"', ofDuckdb],
  ["duckdb:w.db?table=", "bad_table", "is not a table name"],
  [`${intel}?table=.a`, "bad_table", "is not a table name"],
  [`${intel}?table=a.`, "bad_table", "is not a table name"],
  [`${intel}?dbname=intel`, "bad_output", 'address has an unknown parameter "dbname"'],
  // After a password that is not encoded, a name may be part of it.
  [`${intel}?password=pa&secret`, "bad_output", "address has an unknown parameter"],
  ["postgres://u:pa#secret@db.example.com/intel", "bad_output", "the PostgreSQL address"],
  ["postgres://u:pa/secret@db.example.com/intel", "bad_output", "the PostgreSQL address"],
  ["postgres://u:1/secret@db.example.com/intel", "bad_output", "the PostgreSQL address"],
  ["postgres://u:1?secret@db.example.com/intel", "bad_output", "the PostgreSQL address"],
  [`${intel}?table=${"t".repeat(56)}`, "name_too_long", "the table name", "at most 55 bytes"],
  [`${intel}?table=${"s".repeat(64)}.t`, "name_too_long", "the schema name", "at most 63 bytes"],
])("%s is refused, and no password is shown", (output, code, message, hint = "") => {
  let fault: unknown = null;
  try {
    parseOutput(output);
  } catch (error) {
    fault = error;
  }
  const said = fault as ReputeError;
  expect([said.code, said.message, said.hint]).toEqual([
    code,
    expect.stringContaining(message),
    expect.stringContaining(hint),
  ]);
  expect(said.message).not.toContain("secret");
  expect(said.cause).toBeUndefined();
});

test("a DuckDB table is named after the file", () => {
  const address = "duckdb:dir/w.duckdb?table=intel.hits";
  expect(duckdb.parseAddress(address)?.table).toEqual({ schema: "intel", name: "hits" });
  const parsed = parseOutput(address);
  expect(parsed).toMatchObject({
    file: null,
    database: resolve("dir/w.duckdb"),
    name: "duckdb:dir/w.duckdb?table=intel.hits",
    isTable: true,
  });
  expect(parsed.base()).toBe(`${resolve("dir/w.duckdb")}.intel.hits`);
});

test("a DuckDB table has its own run files for any name, the same for every spelling", () => {
  const baseOf = (name: string): string =>
    basename(parseOutput(`duckdb:w.db?table=${name}`).base());
  const bases = ["a/b", "a:b"].map(baseOf);
  expect(new Set(bases).size).toBe(2);
  for (const base of bases) expect(base).toMatch(/^w\.db\.a_b-[0-9a-f]{8}$/);
  expect(["Nightly", "MAIN.NIGHTLY"].map(baseOf)).toEqual(["w.db.nightly", "w.db.nightly"]);
});

test("a PostgreSQL table doesn't show its password, and has the driver's parameters", () => {
  const query = "sslmode=verify-full&sslrootcert=ca.pem&application_name=night";
  const address = `postgresql://u:secret@db.example.com:5433/intel?table=feeds.hits&${query}`;
  expect(postgres.parseAddress(address)).toMatchObject({
    table: { schema: "feeds", name: "hits" },
    url: `postgresql://u:secret@db.example.com:5433/intel?${query}`,
  });
  const parsed = parseOutput(address);
  expect(parsed.name).toBe("postgres://u@db.example.com:5433/intel?table=feeds.hits");
  expect(`${parsed.name} ${parsed.base()}`).not.toContain("secret");
  expect(postgres.parseAddress("postgres:///intel?host=/run/postgresql")).toMatchObject({
    place: "postgres:///intel",
    url: "postgres:///intel?host=%2Frun%2Fpostgresql",
  });
  const longest = `${"s".repeat(63)}.${"t".repeat(55)}`;
  expect(postgres.parseAddress(`${intel}?table=${longest}`)).not.toBeNull();
});

test("a PostgreSQL table keeps its run files in the folder of states", () => {
  const base = (output: string): string | undefined => postgres.parseAddress(output)?.base("dir");
  const enriched = base("postgres://db.example.com/intel");
  expect(enriched).toBe(resolve("dir", "repute-db.example.com-intel-enriched"));
  expect(base("postgres://db.example.com:5433/intel")).not.toBe(enriched);
});
