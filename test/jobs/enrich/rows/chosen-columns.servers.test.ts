import { afterAll, expect, onTestFinished, test } from "vitest";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { RedisServer } from "../../../helpers/redis-server.js";
import { startRepute } from "../../../helpers/run-repute.js";
import { servedWorkspace } from "../../../helpers/workspace.js";

const [cluster, redis] = await Promise.all([PostgresCluster.start(), RedisServer.start()]);
afterAll(() => Promise.all([cluster.stop(), redis.stop()]));

const rows = 300;

/** Every third row repeats an earlier item, and one in ten has none. */
const lines = Array.from({ length: rows }, (_, n) => {
  if (n % 10 === 5) return `${n},setup.exe\n`;
  return `${n},h-${n % 3 === 2 ? n - 2 : n}.example.com\n`;
});

async function prepared() {
  const env = { PGPASSWORD: cluster.password };
  const input = { "in.csv": `n,domain\n${lines.join("")}` };
  const place = await servedWorkspace(input, { env });
  const pace = ["--intel-url", place.server.url, "--lookups", "query", "--quiet"];
  const enrich = (...args: readonly string[]) => place.run("enrich", "in.csv", ...pace, ...args);
  /** Numbers of the rows that a run with `chosen` writes, by a text output. */
  const expected = async (): Promise<readonly (string | undefined)[]> => {
    expect(await enrich("-o", "whole.csv", ...chosen)).toMatchObject({ code: 0, stderr: "" });
    const whole = await place.records("whole.csv");
    expect(Object.keys(whole[0] ?? {})).toEqual(columns);
    expect(whole.length).toBeGreaterThan(100);
    expect(whole.length).toBeLessThan(250);
    return whole.map(({ n }) => n);
  };
  /** Numbers of the rows in an output, and its columns besides those of every table. */
  const found = async (out: string) => {
    const read = out.endsWith(".csv")
      ? await place.records(out)
      : await cluster.query(`SELECT * FROM ${out} ORDER BY rep_row`);
    const names = Object.keys(read[0] ?? {});
    return {
      numbers: read.map((row) => row["n"]),
      columns: names.filter((name) => !/^rep_(?:run_id|row|loaded_at)$/.test(name)),
    };
  };
  return { ...place, enrich, expected, found };
}

const chosen = ["--columns", "verdict,item,kind", "--only", "none", "--distinct"];

function tableOf(table: string): string {
  return cluster.url({ password: null, parameters: { table } });
}

const columns = ["n", "domain", "rep_status", "rep_verdict", "rep_item", "rep_kind"];

test("a table has the chosen columns and rows, also after a run that stopped and resumed", async () => {
  const { enrich, expected, found, run } = await prepared();
  const numbers = await expected();
  const output = tableOf("chosen");
  expect(await enrich("-o", output, ...chosen, "--max-requests", "70")).toMatchObject({ code: 75 });
  expect(await enrich("-o", output, ...chosen, "--resume")).toMatchObject({ code: 0, stderr: "" });
  expect(await found("chosen")).toEqual({ numbers, columns });
  expect(await run("verify", output)).toMatchObject({ code: 0 });
  expect(await run("report", output)).toMatchObject({ code: 0, stderr: "" });
  // The view of the newest rows needs their times.
  const view = (name: string) => cluster.query(`SELECT to_regclass('${name}_newest') AS view`);
  expect(await view("chosen")).toEqual([{ view: null }]);
  const timed = ["--columns", "looked_up_at,item,kind", "--distinct"];
  expect(await enrich("-o", tableOf("timed"), ...timed)).toMatchObject({ code: 0 });
  expect(await view("timed")).toEqual([{ view: "timed_newest" }]);
});

test("a second run with other columns adds no column to the table and says so", async () => {
  const { enrich } = await prepared();
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
async function startWorkers(count: number, url: string): Promise<void> {
  for (let n = 0; n < count; n++) {
    const asking = ["--intel-url", url, "--rate", "1000/s"];
    const worker = startRepute(["worker", redis.url(), ...asking]);
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
    const { enrich, expected, found, run, server } = await prepared();
    const numbers = await expected();
    await startWorkers(2, server.url);
    const path = out === "worked" ? tableOf(out) : out;
    const spread = ["--workers", redis.url()];
    expect(await enrich("-o", path, ...chosen, ...spread)).toMatchObject({ code: 0, stderr: "" });
    expect(await run("verify", path)).toMatchObject({ code: 0 });
    expect(await found(out)).toEqual({ numbers, columns });
  },
);
