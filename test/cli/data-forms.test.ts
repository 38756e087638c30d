import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

/** Runs `enrich` on an input in a folder of its own; resolves to the output's bytes. */
async function enriched(
  name: string,
  bytes: string | Buffer,
  output: string,
  args: readonly string[] = ["--local"],
  stderr = "",
): Promise<Buffer> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, name), bytes);
  const result = await runRepute(["enrich", name, "-o", output, "--quiet", ...args], { cwd });
  expect(result).toEqual({ code: 0, signal: null, stdout: "", stderr });
  return readFile(join(cwd, output));
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
  const csv = await enriched("in.csv", input, "out.csv", ["--local"], warning);
  expect(csv.toString()).toContain(',"[""a"",""b""]"\n');
  const ndjson = '{"ip":"192.0.2.1"}\n{"ip":"192.0.2.2","more":[1]}\n{broken\n';
  const flat = await enriched("in.ndjson", ndjson, "out.csv", ["--local", "--fail-on", "never"]);
  expect(flat.toString()).toContain(',"{""more"":[1]}"\n');
  expect(flat.toString()).toMatch(/\n,,,failed,.*,input_row,/);
});
