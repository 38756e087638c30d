import { basename, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { findWarehouse } from "../../../../src/outputs/registry.js";
import {
  parseDuckdbTarget,
  parseParquetTarget,
  parsePostgresTarget,
} from "../../../../src/outputs/warehouse/target.js";

describe("an output that isn't a warehouse", () => {
  it.each(["-", "out.csv", "out.ndjson.gz", "folder/out", "/dev/null"])("%s", (output) => {
    expect(findWarehouse(output)).toBeNull();
  });

  it("is rejected if its scheme is unknown, without showing the address", () => {
    expect(() => findWarehouse("mysql://u:secret@localhost/db")).toThrow(
      expect.objectContaining({
        code: "unknown_output",
        message: expect.not.stringContaining("secret"),
      }),
    );
  });
});

it.each([
  ["sqlite:out.db", "sqlite:", ""],
  ["SQLite:out.parquet", "sqlite:", ""],
  ["gs://bucket/out.parquet", "gs:", ""],
  ["postgre://h/db", "postgre:", " (did you mean postgres:?)"],
  ["dukdb:w.db", "dukdb:", " (did you mean duckdb:?)"],
])("%s is neither an output nor a file of that name", (output, scheme, near) => {
  expect(() => findWarehouse(output)).toThrow(
    expect.objectContaining({
      code: "unknown_output",
      message: `cannot write to ${scheme} addresses${near}`,
    }),
  );
});

it.each(["./sqlite:out.csv", "C:out.csv", "2026-01-01T10:00.csv", "dir/a:b.csv"])(
  "%s is a file",
  (output) => {
    expect(findWarehouse(output)).toBeNull();
  },
);

describe("a Parquet file", () => {
  it("is recognised by its extension in any case", () => {
    expect(parseParquetTarget("Out.PARQUET")).toMatchObject({
      file: resolve("Out.PARQUET"),
      base: resolve("Out.PARQUET"),
      display: "Out.PARQUET",
    });
  });

  it("is recognised by the name it gets after too many failures", () => {
    expect(parseParquetTarget("out.parquet.failed")?.file).toBe(resolve("out.parquet.failed"));
  });

  it("is not compressed again", () => {
    expect(() => parseParquetTarget("out.parquet.gz")).toThrow(
      expect.objectContaining({ code: "parquet_gzip" }),
    );
  });
});

describe("a DuckDB table", () => {
  it("is named after the file", () => {
    expect(parseDuckdbTarget("duckdb:dir/w.duckdb?table=intel.hits")).toMatchObject({
      file: resolve("dir/w.duckdb"),
      table: { schema: "intel", name: "hits" },
      display: "duckdb:dir/w.duckdb?table=intel.hits",
      base: `${resolve("dir/w.duckdb")}.intel.hits`,
    });
  });

  it("is called enriched by default", () => {
    expect(parseDuckdbTarget("duckdb:w.db")).toMatchObject({
      table: { schema: null, name: "enriched" },
    });
  });

  it("has its own run files for any name", () => {
    const bases = ["a/b", "a:b"].map(
      (name) => parseDuckdbTarget(`duckdb:w.db?table=${name}`)?.base,
    );
    expect(new Set(bases).size).toBe(2);
    expect(bases.map((base) => basename(base ?? ""))).toEqual([
      expect.stringMatching(/^w\.db\.a_b-[0-9a-f]{8}$/),
      expect.stringMatching(/^w\.db\.a_b-[0-9a-f]{8}$/),
    ]);
  });

  it.each(["nightly", "Nightly", "main.nightly", "MAIN.NIGHTLY"])(
    "has the same run files for every spelling of a table: %s",
    (name) => {
      const base = `${resolve("w.db")}.nightly`;
      expect(parseDuckdbTarget(`duckdb:w.db?table=${name}`)).toMatchObject({ base });
    },
  );

  it.each([
    ["duckdb:", "duckdb: does not name a DuckDB file"],
    ["duckdb:?table=a", "duckdb:?table=a does not name a DuckDB file"],
    ["duckdb::memory:", "duckdb::memory: does not name a DuckDB file"],
    ["duckdb:w.db?tabel=a", 'duckdb:w.db has an unknown parameter "tabel" (did you mean table?)'],
    ["duckdb:w.db?mode=ro", 'duckdb:w.db has an unknown parameter "mode"'],
    ["duckdb:w.db?table=a&table=b", "duckdb:w.db has the parameter table twice"],
  ])("is not named by %s", (output, message) => {
    expect(() => parseDuckdbTarget(output)).toThrow(
      expect.objectContaining({
        code: "bad_output",
        message,
        hint: "write duckdb:FILE?table=NAME",
      }),
    );
  });

  it.each(["?table=", "?table=.a", "?table=a."])("is not named by %s", (query) => {
    expect(() => parseDuckdbTarget(`duckdb:w.db${query}`)).toThrow(
      expect.objectContaining({ code: "bad_table" }),
    );
  });

  it("requires the scheme, not the file's extension", () => {
    expect(() => findWarehouse("w.duckdb")).toThrow(
      expect.objectContaining({ hint: "write duckdb:w.duckdb?table=enriched" }),
    );
  });
});

describe("a PostgreSQL table", () => {
  it("doesn't show its password", () => {
    const target = parsePostgresTarget(
      "postgresql://u:secret@db.example.com:5433/intel?table=feeds.hits&sslmode=require",
    );
    expect(target).toMatchObject({
      table: { schema: "feeds", name: "hits" },
      url: "postgresql://u:secret@db.example.com:5433/intel?sslmode=require",
      display: "postgres://u@db.example.com:5433/intel?table=feeds.hits",
    });
    expect(`${target?.display} ${target?.base}`).not.toContain("secret");
  });

  it("keeps its run files in the working directory, one set per table", () => {
    const base = (output: string): string | undefined => parsePostgresTarget(output)?.base;
    expect(base("postgres://db.example.com/intel")).toBe(
      resolve("repute-db.example.com-intel-enriched"),
    );
    expect(base("postgres://db.example.com:5433/intel")).not.toBe(
      base("postgres://db.example.com/intel"),
    );
  });

  it.each([
    ["?tabel=nightly", 'an unknown parameter "tabel" (did you mean table?)'],
    ["?table=a&ssl_mode=require", 'an unknown parameter "ssl_mode" (did you mean sslmode?)'],
    ["?dbname=intel", 'an unknown parameter "dbname"'],
    ["?table=a&table=b", "the parameter table twice"],
    ["?password=pa&ss", "an unknown parameter"],
  ])("rejects parameters without effect: %s", (query, fault) => {
    expect(() => parsePostgresTarget(`postgres://u:secret@db.example.com/intel${query}`)).toThrow(
      expect.objectContaining({
        code: "bad_output",
        message: `the PostgreSQL address has ${fault}`,
      }),
    );
  });

  it("accepts the driver's parameters", () => {
    const query =
      "sslmode=verify-full&sslrootcert=ca.pem&sslcert=c.pem&sslkey=k.pem&application_name=night";
    expect(parsePostgresTarget(`postgres://u@db.example.com/intel?table=a&${query}`)?.url).toBe(
      `postgres://u@db.example.com/intel?${query}`,
    );
  });

  it.each(["?table=", "?table=.a", "?table=a."])("is not named by %s", (query) => {
    expect(() => parsePostgresTarget(`postgres://db.example.com/intel${query}`)).toThrow(
      expect.objectContaining({ code: "bad_table" }),
    );
  });

  it.each([
    ["t".repeat(56), "the table name", 55],
    [`${"s".repeat(64)}.hits`, "the schema name", 63],
    [`feeds.${"ä".repeat(28)}`, "the table name", 55],
  ])("has a name that PostgreSQL stores in full: %s", (name, what, longest) => {
    const parsed = (table: string) =>
      parsePostgresTarget(`postgres://db.example.com/intel?table=${table}`);
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
    expect(parsePostgresTarget("postgres:///intel?host=/run/postgresql")).toMatchObject({
      display: "postgres:///intel?table=enriched",
      url: "postgres:///intel?host=%2Frun%2Fpostgresql",
    });
  });

  it.each([
    "postgres://u:pa#ss@db.example.com/intel",
    "postgres://u:pa/ss@db.example.com/intel",
    "postgres://u:1/ss@db.example.com/intel",
    "postgres://u:1?ss@db.example.com/intel",
    "postgres://u:1#ss@db.example.com/intel",
  ])("is rejected without showing the address if its password is not encoded", (output) => {
    let fault: unknown = null;
    try {
      parsePostgresTarget(output);
    } catch (error) {
      fault = error;
    }
    expect(fault).toMatchObject({ code: "bad_output" });
    expect((fault as Error).message).not.toContain("ss@");
    expect((fault as Error).cause).toBeUndefined();
  });
});
