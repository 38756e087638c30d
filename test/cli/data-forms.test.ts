import { readFile } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { runRepute } from "../helpers/run-repute.js";
import { workspace } from "../helpers/workspace.js";

/** Runs `enrich` on an input in a folder of its own; resolves to the output's bytes. */
async function enriched(name: string, bytes: string | Buffer, output: string, stderr = "") {
  const { at, run } = await workspace({ [name]: bytes });
  const flags = ["--local", "--quiet", "--fail-on", "never"];
  const result = await run("enrich", name, "-o", output, ...flags);
  expect(result).toEqual({ code: 0, signal: null, stdout: "", stderr });
  return readFile(at(output));
}

test("reads and writes gzipped NDJSON", async () => {
  const records = '{"n":1.50,"ip":"192.0.2.1"}\n{"n":2,"ip":"192.0.2.2","more":[1]}\n';
  const output = await enriched("in.ndjson.gz", gzipSync(records), "out.ndjson.gz");
  const lines = gunzipSync(output).toString().trimEnd().split("\n");
  expect(lines.map((line) => line.slice(0, line.indexOf(',"rep":')))).toEqual([
    '{"n":1.50,"ip":"192.0.2.1"',
    '{"n":2,"ip":"192.0.2.2","more":[1]',
  ]);
});

test("detects gzip in a file without .gz in its name", async () => {
  const output = await enriched("in.csv", gzipSync("ip\n192.0.2.1\n"), "out.csv");
  expect(output.toString()).toMatch(/\n192\.0\.2\.1,192\.0\.2\.1,ip,complete,/);
});

test("-o - writes the same bytes to stdout as to a file of that format", async () => {
  const args = ["enrich", "-o", "-", "--to", "ndjson", "--local", "--quiet"];
  const { stdout } = await runRepute(args, { stdin: "ip\n192.0.2.1\n" });
  expect(JSON.parse(stdout)).toMatchObject({ ip: "192.0.2.1", rep: { status: "complete" } });
});

test("moves surplus cells, and members that the first record lacks, to rep_extra", async () => {
  const warning = "repute: warning: row with more cells than there are columns (row 1)\n";
  const input = "ip\n192.0.2.1,a,b\n192.0.2.2\n";
  const csv = await enriched("in.csv", input, "out.csv", warning);
  expect(csv.toString()).toContain(',"[""a"",""b""]"\n');
  const ndjson = '{"ip":"192.0.2.1"}\n{"ip":"192.0.2.2","more":[1]}\n{broken\n';
  const flat = await enriched("in.ndjson", ndjson, "out.csv");
  expect(flat.toString()).toContain(',"{""more"":[1]}"\n');
  expect(flat.toString()).toMatch(/\n,,,failed,.*,input_row,/);
});
