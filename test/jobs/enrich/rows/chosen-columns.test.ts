import { expect, test } from "vitest";
import { queryDuckdb, readParquet } from "../../../io/output/tables/warehouse-readers.js";
import { workspace } from "../../../helpers/workspace.js";

async function prepared() {
  const place = await workspace({
    "in.csv": "id,ip\n1,203.0.113.9\n2,192.0.2.1\n3,192.0.2.1\n4,\n",
  });
  const enrich = (...args: readonly string[]) =>
    place.run("enrich", "in.csv", "--local", "--quiet", ...args);
  return { ...place, enrich };
}

test("every output with columns has the chosen ones, and can be verified and reported on", async () => {
  const { run, enrich } = await prepared();
  const duckdb = "duckdb:out.duckdb?table=t";
  const outs = ["out.csv", "out.tsv.gz", "out.ndjson", "out.parquet", duckdb];
  for (const out of outs) {
    const shape = out === "out.ndjson" ? ["--shape", "flat"] : [];
    const args = ["-o", out, "--columns", "verdict,item,kind,tags", ...shape];
    expect(await enrich(...args), out).toMatchObject({ code: 0, stderr: "" });
    expect(await run("verify", out), out).toMatchObject({ code: 0 });
    const report = await run("report", out);
    expect(report.stderr, out).toBe("");
  }
});

test("an output lacks only what was not chosen, and commands say which column they need", async () => {
  const { run, enrich } = await prepared();
  await enrich("-o", "out.csv", "--columns", "verdict");
  for (const [command, lacking, ...local] of [
    ["report", "lacks 2 columns that this needs: item, kind"],
    ["retry", "item, kind, missing", "--local"],
  ] as const) {
    const { code, stderr } = await run(command, "out.csv", ...local);
    expect(code).toBe(2);
    expect(stderr).toContain(lacking);
  }
  const diff = await run("diff", "out.csv", "out.csv");
  expect(diff).toMatchObject({ code: 2 });
  expect(diff.stderr).toContain("needs: item, kind, intent");
  expect(await run("verify", "out.csv")).toMatchObject({ code: 0 });
});

test("refuses unknown names, and outputs without columns", async () => {
  const { enrich } = await prepared();
  const wrong = await enrich("--columns", "verdct");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('unknown column "verdct" (did you mean verdict?)');
  const nested = await enrich("-o", "out.ndjson", "--columns", "verdict");
  expect(nested.stderr).toContain("--columns has no effect on out.ndjson: it is for flat rows");
  expect(await enrich("-o", "o.json", "--to", "es-bulk", "--columns", "tags")).toMatchObject({
    code: 2,
  });
  expect((await enrich("--only", "malicous")).stderr).toContain("did you mean malicious?");
});

test("rows of Parquet and tables are numbered as written", async () => {
  const { at, enrich, run } = await prepared();
  const args = ["--only", "malicious,unknown", "--columns", "verdict"];
  await enrich("-o", "out.parquet", ...args);
  await enrich("-o", "duckdb:out.duckdb?table=t", ...args);
  const rows = await queryDuckdb("FROM t ORDER BY rep_row", at("out.duckdb"));
  const expected = [
    ["1", "2"],
    ["2", "3"],
    ["3", "4"],
  ];
  const shown = (row: Readonly<Record<string, unknown>>) => [String(row["rep_row"]), row["id"]];
  expect(rows.map(shown)).toEqual(expected);
  expect((await readParquet(at("out.parquet"))).map(shown)).toEqual(expected);
  expect(await run("verify", "out.parquet")).toMatchObject({ code: 0 });
});
