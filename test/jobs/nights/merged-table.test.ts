import { expect, test } from "vitest";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
import { workspace } from "../../helpers/workspace.js";

const table = "duckdb:out.duckdb?table=t";

async function merged(...flags: readonly string[]) {
  const text = "n,ip\n1,192.0.2.1\n2,192.0.2.1\n3,\n4,192.0.2.2\n";
  const { at, run } = await workspace({ "in.csv": text });
  const args = ["in.csv", "-o", table, "--local", "--quiet", "--mode", "merge", ...flags];
  expect(await run("enrich", ...args)).toMatchObject({ code: 0, stderr: "" });
  return { run, query: (sql: string) => queryDuckdb(sql, at("out.duckdb")) };
}

test("verify accepts a merged table, which may lack rows of its run, but not surplus rows", async () => {
  const { run, query } = await merged();
  expect(await run("verify", table)).toMatchObject({
    code: 0,
    stdout: `${table}: 2 rows, matches its manifest\n`,
  });
  await query(
    "INSERT INTO t SELECT t.* REPLACE (rep_item || '.' || more AS rep_item) FROM t, range(9) AS r(more)",
  );
  expect(await run("verify", table)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("rows: the manifest says 4, the table has 20"),
  });
});

test("--key tells rows apart by other columns", async () => {
  const { query } = await merged("--key", "rep_item,n");
  expect(await query("SELECT n FROM t ORDER BY n")).toEqual([{ n: "1" }, { n: "2" }, { n: "4" }]);
});
