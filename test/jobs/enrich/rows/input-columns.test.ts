import { beforeEach, expect, test } from "vitest";
import { type Workspace, workspace } from "../../../helpers/workspace.js";

let place: Workspace;

beforeEach(async () => {
  const objects = [
    '{"ip":"192.0.2.1","deep":{"a":1.10},"n":1}',
    '{"n":2,"ip":"192.0.2.2","late":3}',
  ];
  place = await workspace({
    "in.csv": 'ip,note,n\n192.0.2.1,"a, b",1\n192.0.2.2,,2,surplus\n',
    "in.ndjson": `${objects.join("\n")}\n{broken\n`,
  });
});

async function written(input: string, output: string, ...flags: string[]): Promise<string> {
  const shown = ["--local", "--quiet", "--item-column", "ip", "--fail-on", "never", ...flags];
  const run = await place.run("enrich", input, "-o", output, ...shown);
  expect([run.code, run.stderr]).toEqual([0, expect.not.stringContaining("error")]);
  return place.read(output);
}

const few = ["--columns", "item,extra"];

test.each([
  ["n,note", "n,note,", ['1,"a, b",', "2,,"]],
  ["none", "", ["", ""]],
  ["NOTE", "note,", ['"a, b",', ","]],
])("CSV with the columns %s, of an item column that is named twice", async (names, header, own) => {
  const flags = [...few, "--item-column", "ip", "--input-columns", names];
  expect((await written("in.csv", "out.csv", ...flags)).split("\n")).toEqual([
    `${header}rep_status,rep_item,rep_extra`,
    `${own[0]}complete,192.0.2.1,`,
    `${own[1]}complete,192.0.2.2,"[""surplus""]"`,
    "",
  ]);
});

test("objects keep the members as written, others leave no trace", async () => {
  const flags = ["--input-columns", "n,deep"];
  const nested = (await written("in.ndjson", "out.ndjson", ...flags)).split("\n");
  expect(nested.map((line) => line.slice(0, 30))).toEqual([
    expect.stringMatching(/^\{"n":1,"deep":\{"a":1\.10\},"rep"/),
    expect.stringMatching(/^\{"n":2,"rep":/),
    expect.stringMatching(/^\{"rep":/),
    "",
  ]);
  expect(await written("in.ndjson", "out.csv", ...few, ...flags)).toBe(
    'n,deep,rep_status,rep_item,rep_extra\n1,"{""a"":1.10}",complete,192.0.2.1,\n2,,complete,192.0.2.2,\n,,failed,,"""{broken"""\n',
  );
});

test("a table has no other columns, and what reads it finds all others", async () => {
  await written("in.csv", "out.parquet", "--input-columns", "note");
  const again = ["out.parquet", "-o", "again.csv", "--local", "--prefix", "again_", "--quiet"];
  expect((await place.run("enrich", ...again, "--item-column", "rep_item")).code).toBe(0);
  const [header = ""] = (await place.read("again.csv")).split("\n");
  expect(header).toMatch(/^rep_run_id,rep_row,rep_loaded_at,note,rep_item,/);
  const report = await place.run("report", "out.parquet");
  expect([report.code, report.stdout]).toEqual([0, expect.stringContaining("192[.]0[.]2[.]1")]);
});

test("a run that continues needs the same columns, and starts over with others", async () => {
  const out = ["in.csv", "-o", "out.csv", "--local", "--item-column", "ip"];
  const stopped = await place.run("enrich", ...out, "--max-requests", "1");
  expect(stopped.code).toBe(75);
  const flags = ["--resume", ...few, "--input-columns", "n"];
  const { code, stderr } = await place.run("enrich", ...out, ...flags);
  expect([code, stderr]).toEqual([0, expect.stringContaining("--input-columns was null")]);
  expect(await place.read("out.csv")).toMatch(/^n,rep_status,rep_item,rep_extra\n1,/);
});

test("a column that isn't there is an error that names those that are", async () => {
  const args = ["in.csv", "-o", "out.csv", "--local", "--input-columns", "nte"];
  const { code, stderr } = await place.run("enrich", ...args);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Did you mean "note"?')]);
});
