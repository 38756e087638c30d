import { existsSync } from "node:fs";
import { mkdir, readdir, rmdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
import { column, servedWorkspace } from "../../helpers/workspace.js";

const rows = 120;
const names = Array.from({ length: rows }, (_, n) => `h${n}.example.com`);

async function prepared() {
  const place = await servedWorkspace({ "in.csv": column("domain", names) });
  return {
    ...place,
    ask: (...args: readonly string[]) => place.ask(...args, "--concurrency", "4"),
    /** Makes the service refuse the last `count` items. */
    failing: (count: number): void => {
      place.server.absent.clear();
      for (const name of names.slice(rows - count)) place.server.absent.add(name);
    },
  };
}

describe("a run with too many failed rows", () => {
  test.each(["out.csv", "out.ndjson.gz", "out.parquet"])(
    "leaves %s as it was and keeps its rows beside it, which retry completes",
    async (out) => {
      const { ask, run, failing, read, manifest, at } = await prepared();
      expect(await ask("enrich", "in.csv", "-o", out)).toMatchObject({ code: 0 });
      const before = [await read(out), await read(`${out}.manifest.json`)];

      failing(61);
      const { code, stderr } = await ask("enrich", "in.csv", "-o", out, "--tag-ips", "lists");
      expect(code).toBe(1);
      expect(existsSync(at("lists"))).toBe(false);
      expect(stderr).toContain(
        `too many rows failed: 61 of the 120 that were looked up (--max-failed allows 50%), most often http_404; the rows are in ${out}.failed, not in ${out}`,
      );
      const retry = ["retry", `${out}.failed`, "-o", out];
      expect(stderr).toContain(`repute ${retry.join(" ")}`);
      expect([await read(out), await read(`${out}.manifest.json`)]).toEqual(before);
      expect(await manifest(`${out}.failed`)).toMatchObject({
        output: { path: `${out}.failed`, rows },
        statuses: { complete: 59, failed: 61 },
        exit_reason: "too_many_failed",
      });
      for (const name of [out, `${out}.failed`]) {
        expect(await run("verify", name)).toMatchObject({ code: 0 });
      }
      expect(existsSync(at(`${out}.state`))).toBe(false);
      expect(existsSync(at(`${out}.part`))).toBe(false);

      failing(0);
      expect(await ask(...retry)).toMatchObject({ code: 0 });
      expect((await manifest(out)).statuses.complete).toBe(rows);
      expect(await run("verify", out)).toMatchObject({ code: 0 });
    },
  );

  test("with fewer of them, --quiet leaves one line that says so", async () => {
    const { ask, failing } = await prepared();
    failing(7);
    const line =
      "repute: warning: 7 failed of 120 rows, most often http_404 (7); to retry the failed rows: repute retry out.csv\n";
    const quiet = ["enrich", "in.csv", "-o", "out.csv", "--quiet"];
    expect(await ask(...quiet)).toMatchObject({ code: 3, stdout: "", stderr: line });
    expect(await ask(...quiet, "--json")).toMatchObject({ code: 3, stderr: line });
    expect(await ask(...quiet, "--fail-on", "never")).toMatchObject({ code: 0, stderr: "" });
  });
});

test("a run interrupted between publishing its rows and their manifest keeps the output", async () => {
  const { ask, run, failing, at, read } = await prepared();
  await ask("enrich", "in.csv", "-o", "out.csv");
  const before = await read("out.csv");
  failing(100);
  // What a kill at that moment would leave.
  await mkdir(at("out.csv.failed.manifest.json"));
  expect(await ask("enrich", "in.csv", "-o", "out.csv")).toMatchObject({ code: 1 });
  expect(existsSync(at("out.csv.state"))).toBe(true);
  await rmdir(at("out.csv.failed.manifest.json"));
  const asked = "too many rows failed: 100 of the 120";
  const resumed = await ask("enrich", "in.csv", "-o", "out.csv", "--resume");
  expect(resumed).toMatchObject({ code: 1, stderr: expect.stringContaining(asked) });
  expect(await read("out.csv")).toBe(before);
  expect(await run("verify", "out.csv.failed")).toMatchObject({ code: 0 });

  failing(0);
  expect(await ask("enrich", "in.csv", "-o", "out.csv")).toMatchObject({ code: 0 });
});

test("a table stays as it was, and the rows are in a file that retry reads", async () => {
  const { ask, run, failing, at, cwd, manifest } = await prepared();
  const output = "duckdb:w.db?table=t";
  expect(await ask("enrich", "in.csv", "-o", output)).toMatchObject({ code: 0 });
  failing(100);
  const beside = ["--report", "night.html"];
  const { code, stderr } = await ask("enrich", "in.csv", "-o", output, ...beside);
  const failed = "w.db.t.failed.ndjson";
  expect(code).toBe(1);
  expect(stderr).toContain(`the rows are in ${at(failed)}, not in ${output}`);
  const advised = `repute retry ${at(failed)}`;
  expect(stderr).toContain(advised);
  expect(await manifest(failed)).toMatchObject({
    output: { path: at(failed), format: "ndjson", rows },
    exit_reason: "too_many_failed",
  });
  expect(existsSync(at("night.html"))).toBe(false);
  for (const name of [output, failed]) {
    expect(await run("verify", name)).toMatchObject({ code: 0 });
  }
  expect(existsSync(at("w.db.t.state"))).toBe(false);
  expect(await queryDuckdb("SELECT count(*) AS n FROM t", at("w.db"))).toEqual([
    { n: BigInt(rows) },
  ]);

  failing(0);
  expect(await ask("retry", failed, "-o", "again.ndjson")).toMatchObject({ code: 0 });
  expect(await manifest("again.ndjson")).toMatchObject({
    statuses: { complete: rows },
    retried: { failed: { complete: 100 } },
  });
  expect(await ask("enrich", "in.csv", "-o", output)).toMatchObject({ code: 0 });
  expect((await readdir(cwd)).filter((name) => name.includes("failed"))).toEqual([]);
});
