import { basename, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { duckdbTables } from "../../../src/io/output/duckdb/address.js";
import { postgresTables } from "../../../src/io/output/postgres/address.js";
import { parseOutput } from "../../../src/io/output/registry.js";

it.each(["-", "out.csv", "out.ndjson.gz", "/dev/null", "./sqlite:out.csv", "C:out.csv", "a/b:c"])(
  "%s is text",
  (output) => {
    expect(parseOutput(output)).toMatchObject({ isTyped: false, isTable: false, publisher: null });
  },
);

it.each([
  ["sqlite:out.db", "sqlite:"],
  ["SQLite:out.parquet", "sqlite:"],
  ["mysql://u:secret@localhost/db", "mysql:"],
])("%s is neither an output nor a file of that name", (output, scheme) => {
  expect(() => parseOutput(output)).toThrow(
    expect.objectContaining({
      code: "unknown_output",
      message: `cannot write to ${scheme} addresses`,
    }),
  );
});

describe("a Parquet file", () => {
  it.each(["Out.PARQUET", "out.parquet.failed"])("%s is known by its name", (output) => {
    const file = resolve(output);
    const parsed = parseOutput(output);
    expect(parsed).toMatchObject({ file, name: output, format: "parquet", isTyped: true });
    expect(parsed.base()).toBe(file);
  });

  it("is not compressed again", () => {
    expect(() => parseOutput("out.parquet.gz")).toThrow(
      expect.objectContaining({ code: "parquet_gzip" }),
    );
  });
});

describe("a DuckDB table", () => {
  it("is named after the file", () => {
    const address = "duckdb:dir/w.duckdb?table=intel.hits";
    expect(duckdbTables.parse(address)?.table).toEqual({ schema: "intel", name: "hits" });
    const parsed = parseOutput(address);
    expect(parsed).toMatchObject({
      file: null,
      database: resolve("dir/w.duckdb"),
      name: "duckdb:dir/w.duckdb?table=intel.hits",
      isTable: true,
    });
    expect(parsed.base()).toBe(`${resolve("dir/w.duckdb")}.intel.hits`);
  });

  it("has its own run files for any name", () => {
    const bases = ["a/b", "a:b"].map((name) =>
      basename(parseOutput(`duckdb:w.db?table=${name}`).base()),
    );
    expect(new Set(bases).size).toBe(2);
    for (const base of bases) expect(base).toMatch(/^w\.db\.a_b-[0-9a-f]{8}$/);
  });

  it.each(["Nightly", "MAIN.NIGHTLY"])("has the same run files for every spelling: %s", (name) => {
    const base = `${resolve("w.db")}.nightly`;
    expect(parseOutput(`duckdb:w.db?table=${name}`).base()).toBe(base);
  });

  it.each([
    ["duckdb:?table=a", "duckdb:?table=a does not name a DuckDB file"],
    ["duckdb::memory:", "duckdb::memory: does not name a DuckDB file"],
    ["duckdb:w.db?tabel=a", 'duckdb:w.db has an unknown parameter "tabel"'],
    ["duckdb:w.db?table=a&table=b", 'duckdb:w.db has a repeated parameter "table"'],
  ])("is not named by %s", (output, message) => {
    expect(() => parseOutput(output)).toThrow(
      expect.objectContaining({
        code: "bad_output",
        message,
        hint: "write duckdb:FILE?table=NAME",
      }),
    );
  });

  it("requires the scheme, not the file's extension", () => {
    expect(() => parseOutput("w.duckdb")).toThrow(
      expect.objectContaining({ hint: "write duckdb:w.duckdb?table=enriched" }),
    );
  });
});

it.each(["duckdb:w.db", "postgres://db.example.com/intel"])("%s has a table's name", (place) => {
  for (const query of ["?table=", "?table=.a", "?table=a."]) {
    expect(() => parseOutput(place + query)).toThrow(
      expect.objectContaining({ code: "bad_table" }),
    );
  }
});

describe("a PostgreSQL table", () => {
  it("doesn't show its password, and has the driver's parameters", () => {
    const query = "sslmode=verify-full&sslrootcert=ca.pem&application_name=night";
    const address = `postgresql://u:secret@db.example.com:5433/intel?table=feeds.hits&${query}`;
    expect(postgresTables.parse(address)).toMatchObject({
      table: { schema: "feeds", name: "hits" },
      url: `postgresql://u:secret@db.example.com:5433/intel?${query}`,
    });
    const parsed = parseOutput(address);
    expect(parsed.name).toBe("postgres://u@db.example.com:5433/intel?table=feeds.hits");
    expect(`${parsed.name} ${parsed.base()}`).not.toContain("secret");
  });

  it("keeps its run files in the folder of states, one set per table", () => {
    const base = (output: string): string | undefined => postgresTables.parse(output)?.base("dir");
    expect(base("postgres://db.example.com/intel")).toBe(
      resolve("dir", "repute-db.example.com-intel-enriched"),
    );
    expect(base("postgres://db.example.com:5433/intel")).not.toBe(
      base("postgres://db.example.com/intel"),
    );
  });

  it.each([
    ["?dbname=intel", ' "dbname"'],
    ["?password=pa&ss", ""],
  ])("rejects parameters without effect: %s", (query, name) => {
    expect(() => postgresTables.parse(`postgres://u:secret@db.example.com/intel${query}`)).toThrow(
      expect.objectContaining({
        code: "bad_output",
        message: `the PostgreSQL address has an unknown parameter${name}`,
      }),
    );
  });

  it.each([
    ["t".repeat(56), "the table name", 55],
    [`${"s".repeat(64)}.hits`, "the schema name", 63],
  ])("has a name that PostgreSQL stores in full: %s", (name, what, longest) => {
    const parsed = (table: string) =>
      postgresTables.parse(`postgres://db.example.com/intel?table=${table}`);
    expect(() => parsed(name)).toThrow(
      expect.objectContaining({
        code: "name_too_long",
        message: expect.stringContaining(what),
        hint: expect.stringContaining(`at most ${longest} bytes`),
      }),
    );
    expect(parsed(`${"s".repeat(63)}.${"t".repeat(55)}`)).not.toBeNull();
  });

  it("can be reached through a Unix socket", () => {
    expect(postgresTables.parse("postgres:///intel?host=/run/postgresql")).toMatchObject({
      place: "postgres:///intel",
      url: "postgres:///intel?host=%2Frun%2Fpostgresql",
    });
  });

  it.each(["pa#ss", "pa/ss", "1/ss", "1?ss"])(
    "is rejected without showing the address if its password is not encoded: %s",
    (password) => {
      let fault: unknown = null;
      try {
        postgresTables.parse(`postgres://u:${password}@db.example.com/intel`);
      } catch (error) {
        fault = error;
      }
      expect(fault).toMatchObject({ code: "bad_output" });
      expect((fault as Error).message).not.toContain("ss@");
      expect((fault as Error).cause).toBeUndefined();
    },
  );
});
