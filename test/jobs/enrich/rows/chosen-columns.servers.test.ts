import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { readParquet } from "../../../io/output/tables/warehouse-readers.js";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { RedisServer } from "../../../helpers/redis-server.js";
import { runRepute, startRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

let cluster: PostgresCluster;
let redis: RedisServer;
let service: AnsweringServer;
let cwd: string;

beforeAll(async () => {
  [cluster, redis] = await Promise.all([PostgresCluster.start(), RedisServer.start()]);
});
afterAll(async () => {
  await cluster?.stop();
  await redis?.stop();
});

const rows = 300;

/** Every third row repeats an earlier item, and one in ten has none. */
beforeEach(async () => {
  service = await startAnsweringServer();
  cwd = await temporaryFolder();
  const lines = Array.from({ length: rows }, (_, n) => {
    if (n % 10 === 5) return `${n},setup.exe\n`;
    return `${n},h-${n % 3 === 2 ? n - 2 : n}.example.com\n`;
  });
  await writeFile(join(cwd, "in.csv"), `n,domain\n${lines.join("")}`);
});

const chosen = ["--columns", "verdict,item,kind", "--only", "none", "--distinct"];

function repute(...args: readonly string[]) {
  return runRepute(args, { cwd, env: { PGPASSWORD: cluster.password } });
}

function enrich(...args: readonly string[]) {
  const pace = ["--intel-url", service.url, "--lookups", "query"];
  return repute("enrich", "in.csv", ...pace, "--quiet", ...args);
}

function tableOf(table: string): string {
  return cluster.url({ password: null, parameters: { table } });
}

/** Numbers of the rows that a run with `chosen` writes, by a text output. */
async function expected(): Promise<readonly string[]> {
  expect(await enrich("-o", "whole.csv", ...chosen)).toMatchObject({ code: 0, stderr: "" });
  const [header, ...lines] = (await readFile(join(cwd, "whole.csv"), "utf8")).trimEnd().split("\n");
  expect(header).toBe("n,domain,rep_status,rep_verdict,rep_item,rep_kind");
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.length).toBeLessThan(250);
  return lines.map((line) => line.split(",")[0] ?? "");
}

/** Numbers of the rows in an output, and its columns besides those of every table. */
async function found(out: string) {
  const read = await rowsIn(out);
  const names = Object.keys(read[0] ?? {});
  return {
    numbers: read.map((row) => row["n"]),
    columns: names.filter((name) => !/^rep_(?:run_id|row|loaded_at)$/.test(name)),
  };
}

async function rowsIn(out: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (out.endsWith(".csv")) return parse(await readFile(join(cwd, out)), { columns: true });
  if (out.endsWith(".parquet")) return readParquet(join(cwd, out));
  return cluster.query(`SELECT * FROM ${out} ORDER BY rep_row`);
}

const columns = ["n", "domain", "rep_status", "rep_verdict", "rep_item", "rep_kind"];

test("a table has the chosen columns and rows, also after a run that stopped and resumed", async () => {
  const numbers = await expected();
  const output = tableOf("chosen");
  expect(await enrich("-o", output, ...chosen, "--max-requests", "70")).toMatchObject({ code: 75 });
  expect(await enrich("-o", output, ...chosen, "--resume")).toMatchObject({ code: 0, stderr: "" });
  expect(await found("chosen")).toEqual({ numbers, columns });
  expect(await repute("verify", output)).toMatchObject({ code: 0 });
  expect(await repute("report", output)).toMatchObject({ code: 0, stderr: "" });
  // The view of the newest rows needs their times.
  const view = (name: string) => cluster.query(`SELECT to_regclass('${name}_newest') AS view`);
  expect(await view("chosen")).toEqual([{ view: null }]);
  const timed = ["--columns", "looked_up_at,item,kind", "--distinct"];
  expect(await enrich("-o", tableOf("timed"), ...timed)).toMatchObject({ code: 0 });
  expect(await view("timed")).toEqual([{ view: "timed_newest" }]);
});

test("a second run with other columns adds no column to the table and says so", async () => {
  const output = tableOf("narrow");
  expect(await enrich("-o", output, "--columns", "verdict,item,kind")).toMatchObject({ code: 0 });
  const { code, stderr } = await enrich("-o", output);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/lacks \d+ columns: rep_/)]);
  // Fewer than the table has are nulls.
  expect(await enrich("-o", output, "--columns", "verdict")).toMatchObject({ code: 0 });
  const counts = await cluster.query("SELECT count(*) AS n, count(rep_item) AS item FROM narrow");
  expect(counts).toEqual([{ n: "600", item: "270" }]);
});

/** Starts processes that answer lookups. */
async function startWorkers(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const worker = startRepute([
      "worker",
      redis.url(),
      "--intel-url",
      service.url,
      "--rate",
      "1000/s",
    ]);
    await worker.waitFor("stderr", /answering/);
    onTestFinished(async () => {
      worker.child.kill("SIGTERM");
      await worker.result;
    });
  }
}

test.each(["out.csv", "worked"])(
  "workers write the chosen columns and rows of a single run to %s",
  async (out) => {
    const numbers = await expected();
    await startWorkers(2);
    const path = out === "worked" ? tableOf(out) : out;
    const spread = ["--workers", redis.url()];
    expect(await enrich("-o", path, ...chosen, ...spread)).toMatchObject({ code: 0, stderr: "" });
    expect(await repute("verify", path)).toMatchObject({ code: 0 });
    expect(await found(out)).toEqual({ numbers, columns });
  },
);
