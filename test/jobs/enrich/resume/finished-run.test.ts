import { cpSync, rmSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichHere, type EnrichHereOptions } from "../../../helpers/enrich-here.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { queryDuckdb } from "../../../io/output/tables/warehouse-readers.js";

const input: EnrichHereOptions["input"] = [
  "in.csv",
  "item\na.example.com\nb.example.com\na.example.com\n",
];

/** A run killed just before its last step. */
async function killedAtTheEnd(output = "out.csv") {
  const server = await startAnsweringServer();
  const folder = await temporaryFolder();
  const options = { input, output, folder, intelUrl: server.url };
  const state = join(folder, `${output}.state`);
  // The lock of a dead process is free, but this process is alive: its last step ends it.
  const onFinished = (lastStep: () => void): void => {
    cpSync(state, `${folder}.kept`, { recursive: true });
    lastStep();
    cpSync(`${folder}.kept`, state, { recursive: true });
    rmSync(`${folder}.kept`, { recursive: true });
  };
  const run = await enrichHere({ ...options, onFinished });
  const warnings: string[] = [];
  const again = (more: Partial<EnrichHereOptions> = {}) =>
    enrichHere({
      ...options,
      settings: { resume: true },
      onWarning: (message) => void warnings.push(message),
      ...more,
    });
  return { run, again, folder, server, warnings };
}

test("a resume returns the result of a finished run without a request", async () => {
  const { run, again, folder, server } = await killedAtTheEnd();
  const before = server.total;
  const resumed = await again();
  expect(resumed.manifest).toEqual({ ...run.manifest, resumed: 1 });
  expect(resumed.text).toBe(run.text);
  expect(server.total).toBe(before);
  expect((await readdir(folder)).sort()).toEqual(["in.csv", "out.csv", "out.csv.manifest.json"]);
});

test("a report reads the rows of a Parquet file whose run was killed as it removed its own", async () => {
  const { again } = await killedAtTheEnd("out.parquet");
  let rows = 0;
  const onPublished: EnrichHereOptions["onPublished"] = async ({ read }) => {
    for await (const batch of (await read()).records) rows += batch.length;
  };
  await again({ onPublished });
  expect(rows).toBe(3);
});

test("another input starts a new run after the finished one is published", async () => {
  const { run, again, folder, warnings } = await killedAtTheEnd();
  await rm(join(folder, "out.csv.manifest.json"));
  const next = await again({ input: ["in.csv", "item\nc.example.com\n"] });
  expect(next.manifest.run_id).not.toBe(run.manifest.run_id);
  expect(next.records().map(({ item }) => item)).toEqual(["c.example.com"]);
  expect(warnings.join()).toContain("completed the interrupted run");
});

test.each<[how: string, ruin: (path: string) => Promise<void>]>([
  ["is missing", (path) => rm(path)],
  ["has changed meanwhile", (path) => writeFile(path, "x", { flag: "r+" })],
])("an output of a finished run that %s is written again without a request", async (_, ruin) => {
  const { run, again, folder, server, warnings } = await killedAtTheEnd();
  await ruin(join(folder, "out.csv"));
  await rm(join(folder, "out.csv.manifest.json"));
  const before = server.total;
  expect([(await again()).text, server.total]).toEqual([run.text, before]);
  expect(warnings).toEqual([
    expect.stringMatching(/out\.csv.*; the rows are written again with the answers so far$/),
  ]);
});

test("the types of its input stay with a run that is published by a resume", async () => {
  const cwd = await temporaryFolder();
  const [typed, out] = [join(cwd, "in.parquet"), join(cwd, "out.parquet")];
  const row = "SELECT '192.0.2.1' AS ip, 5::BIGINT AS n, DATE '2026-01-31' AS day";
  await queryDuckdb(`COPY (${row}) TO '${typed}' (FORMAT parquet)`);
  const args = ["enrich", typed, "-o", out, "--local"];
  await mkdir(join(`${out}.part`, "in-the-way"), { recursive: true });
  expect(await runRepute(args, { cwd })).toMatchObject({ code: 1 });
  await rm(`${out}.part`, { recursive: true });
  expect(await runRepute([...args, "--resume"], { cwd })).toMatchObject({ code: 0 });
  const types = await queryDuckdb(`SELECT typeof(n) AS n, typeof(day) AS day FROM '${out}'`);
  expect(types).toEqual([{ n: "BIGINT", day: "DATE" }]);
});
