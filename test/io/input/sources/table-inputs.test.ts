import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { copiedFolder } from "../../../helpers/temporary-folder.js";
import { workspace } from "../../../helpers/workspace.js";
import { queryDuckdb } from "../../output/tables/warehouse-readers.js";

const typed = `SELECT * FROM (VALUES
  (1::BIGINT, '192.0.2.1', TIMESTAMPTZ '2024-01-02 03:04:05.25+02', 12.340::DECIMAL(10,3), 9223372036854775807,
   ['a','b'], {'x': 1, 'y': 'q'}, 'NaN'::DOUBLE, e'tab\\t "q" \\r\\nline', ''),
  (2, 'login.example.com', NULL, -0.001, NULL, ['a|b', NULL], NULL, NULL, NULL, 'x'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) t(id, ioc, tz, dec, big, tags, st, dbl, txt, emp)`;

const folderOfTables = copiedFolder(async (cwd) => {
  const statements = [
    "SET TimeZone = 'America/New_York'",
    `CREATE TABLE iocs AS ${typed}`,
    "CREATE TABLE one AS SELECT unnest(['192.0.2.1', NULL, '', 'a;b', 'example.com']) AS item",
    "CREATE TABLE many AS SELECT 'host-' || n || '.example.com' AS item FROM range(300) t(n)",
    `COPY iocs TO '${cwd}/in.parquet' (FORMAT parquet)`,
    `COPY iocs TO '${cwd}/zstd.parquet' (FORMAT parquet, CODEC zstd, PARQUET_VERSION v2)`,
  ];
  await queryDuckdb(statements.join(";"), join(cwd, "in.duckdb"));
  const whole = await readFile(join(cwd, "in.parquet"));
  await writeFile(join(cwd, "cut.parquet"), whole.subarray(0, whole.length - 40));
  await writeFile(join(cwd, "empty.parquet"), "");
  await writeFile(join(cwd, "hole.parquet"), whole.fill(0xff, 4, 400));
});

async function prepared() {
  const place = await workspace({}, { folder: await folderOfTables() });
  const enrich = (...args: readonly string[]) =>
    place.run("enrich", ...args, "--local", "--lookups", "query");
  return { ...place, enrich };
}

describe("tables and Parquet files as input", () => {
  it.each([
    "duckdb:in.duckdb?query=SELECT * FROM iocs ORDER BY id;",
    "duckdb:in.duckdb?query=SELECT%20*%20FROM%20iocs",
    "zstd.parquet",
  ])("reads %s like the table", async (input) => {
    const { enrich } = await prepared();
    const table = await enrich("duckdb:in.duckdb?table=iocs", "--columns", "status");
    const { stdout } = await enrich(input, "--columns", "status");
    expect(stdout).toBe(table.stdout);
  });

  it("names the column of items, and records how it was read", async () => {
    const { cwd, enrich, manifest, records } = await prepared();
    const { stderr } = await enrich("zstd.parquet", "-o", "out.csv");
    expect(stderr).toMatch(/using column "ioc" \(2 of 2 sampled cells/);
    const codes = (await records()).map((row) => row["rep_error_code"]);
    expect(codes).toEqual(["", "", "empty"]);
    const { input } = await manifest();
    const facts = { path: "zstd.parquet", rows: 3, item_column: "ioc", delimiter: null };
    expect(input).toMatchObject(facts);
    expect((await readdir(cwd)).filter((name) => name.includes(".state"))).toEqual([]);
  });

  it("counts rows that are null throughout, and reads names that repeat", async () => {
    const { enrich, read } = await prepared();
    const one = await enrich("duckdb:in.duckdb?table=one", "-o", "out.csv", "--json");
    expect(JSON.parse(one.stdout)).toMatchObject({ input: { rows: 5 }, output: { rows: 5 } });
    const twice =
      "duckdb:in.duckdb?query=SELECT a.ioc AS ip, b.id AS x, a.id AS x FROM iocs a, iocs b";
    const names = await enrich(twice, "--to", "ndjson", "-o", "out.ndjson", "--json");
    expect(JSON.parse(names.stdout)).toMatchObject({ input: { rows: 9 } });
    expect(await read("out.ndjson")).toMatch(/^\{"ip":"[^"]+","x":\d,"x_2":1,/);
  });

  it("writes into the database that it reads", async () => {
    const { at, enrich } = await prepared();
    const args = ["duckdb:in.duckdb?table=iocs", "-o", "duckdb:in.duckdb?table=results"];
    expect(await enrich(...args)).toMatchObject({ code: 0 });
    expect(await enrich(...args)).toMatchObject({ code: 0 });
    const [counts] = await queryDuckdb(
      "SELECT count(*) AS n, count(DISTINCT rep_run_id) AS runs, (SELECT count(*) FROM iocs) AS before FROM results",
      at("in.duckdb"),
    );
    expect(counts).toEqual({ n: 6n, runs: 2n, before: 3n });
  });

  it("notices a damaged copy, and copies it again if it is removed, with the answers so far", async () => {
    const { at, enrich, read } = await prepared();
    const args = ["duckdb:in.duckdb?table=many", "-o", "out.csv", "--resume"];
    expect(await enrich(...args, "--max-requests", "100")).toMatchObject({ code: 75 });
    await rename(at("in.duckdb"), at("away.duckdb"));
    const copy = at("out.csv.state/input.rows");
    const whole = await readFile(copy);
    const changed = Buffer.from(whole);
    changed[whole.length - 30] = 0x7a;
    for (const damaged of [whole.subarray(0, whole.length - 20), changed]) {
      await writeFile(copy, damaged);
      const { code, stderr } = await enrich(...args);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /the copy of duckdb:in.duckdb\?table=many is damaged: .*input\.rows[^]*or remove it and continue with --resume/,
      );
    }
    await rm(copy);
    await rename(at("away.duckdb"), at("in.duckdb"));
    expect(await enrich(...args)).toMatchObject({ code: 0 });
    expect((await read("out.csv")).split("\n")).toHaveLength(302);
    const { took_over } = JSON.parse(await read("out.csv.manifest.json")) as { took_over?: number };
    expect(took_over).toBeGreaterThan(0);
  });

  it.each([
    ["duckdb:in.duckdb?query=SELECT * FORM iocs", 2, /syntax error at or near "iocs"/],
    ["duckdb:in.duckdb?query=SELECT 1; DROP TABLE iocs", 2, /several statements/],
    ["duckdb:in.duckdb?query=DROP TABLE iocs", 2, /it is not a SELECT/],
    ["duckdb:in.duckdb?query=COPY iocs TO 'x.csv'", 2, /it is not a SELECT/],
    [
      "duckdb:in.duckdb?table=ioc",
      2,
      /cannot read duckdb:in.duckdb\?table=ioc: there is no such table/,
    ],
    ["duckdb:in.duckdb", 2, /names no table/],
    ["duckdb:in.duckdb?table=a&query=SELECT 1", 2, /both a table and a query/],
    ["duckdb:none.duckdb?table=a", 2, /there is no file/],
    ["none.parquet", 2, /there is no file/],
    ["cut.parquet", 1, /cannot read cut.parquet: its footer/],
    ["empty.parquet", 1, /cannot read empty.parquet: it is empty/],
    ["hole.parquet", 1, /cannot read hole.parquet: rows 1 to 3/],
    ["in.duckdb", 2, /in\.duckdb is binary data/],
  ])("explains %s", async (input, code, said) => {
    const { at, cwd, enrich } = await prepared();
    const run = await enrich(input, "-o", "out.csv");
    expect(run.stderr).toMatch(said);
    expect(run).toMatchObject({ code });
    expect((await readdir(cwd)).filter((name) => name.startsWith("out"))).toEqual([]);
    const [iocs] = await queryDuckdb("SELECT count(*) AS n FROM iocs", at("in.duckdb"));
    expect(iocs).toEqual({ n: 3n });
  });

  it("refuses options that apply only to text, and to replace its input", async () => {
    const { enrich } = await prepared();
    const from = await enrich("in.parquet", "--from", "csv");
    expect(from).toMatchObject({ code: 2, stderr: expect.stringContaining("--from applies only") });
    const same = await enrich("in.parquet", "-o", "in.parquet");
    expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("would overwrite") });
    const over = await enrich("duckdb:in.duckdb?table=iocs", "-o", "in.duckdb", "--to", "csv");
    expect(over.code).toBe(2);
  });
});
