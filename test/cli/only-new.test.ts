import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Manifest } from "../../src/core/manifest/manifest.js";
import { type AnsweringServer, startAnsweringServer } from "../helpers/answering-server.js";
import { runRepute, type RunReputeResult } from "../helpers/run-repute.js";
import { copiedFolder } from "../helpers/temporary-folder.js";
import { queryDuckdb } from "../contract/warehouse-readers.js";

const table = "duckdb:out.duckdb?table=enriched";

function hosts(from: number, to: number): string {
  const lines = Array.from({ length: to - from }, (_, n) => `host-${from + n}.example.com\n`);
  return `item\n${lines.join("")}`;
}

let server: AnsweringServer;

beforeAll(async () => {
  server = await startAnsweringServer();
  return () => server.close();
});

function enrichIn(cwd: string, ...args: readonly string[]): Promise<RunReputeResult> {
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "1000000/s"];
  return runRepute(["enrich", ...args, "-o", table, ...service], { cwd });
}

const firstNight = copiedFolder(enrichFirst);

async function enrichFirst(cwd: string): Promise<void> {
  await writeFile(join(cwd, "first.csv"), hosts(0, 200));
  expect(await enrichIn(cwd, "first.csv", "--only-new")).toMatchObject({ code: 0 });
  expect(server.total).toBe(200);
}

async function prepared() {
  const cwd = await firstNight();
  const before = server.total;
  return {
    cwd,
    asked: () => server.total - before,
    enrich: (...args: readonly string[]) => enrichIn(cwd, ...args),
    rows: (sql: string) => queryDuckdb(sql, join(cwd, "out.duckdb")),
  };
}

describe("--only-new", () => {
  it("skips items that the table has, in any spelling, and counts them", async () => {
    const { cwd, asked, enrich, rows } = await prepared();
    const more = "HOST-7[.]example.com\nsetup.exe\nnew.example.com\nnew.example.com\n";
    await writeFile(join(cwd, "second.csv"), hosts(100, 300) + more);
    const plan = ["plan", "second.csv", "-o", table, "--only-new", "--lookups", "query", "--json"];
    expect(JSON.parse((await runRepute(plan, { cwd })).stdout)).toMatchObject({
      rows: 204,
      skipped: 101,
      distinct_items: 101,
      chosen: { requests: 101 },
    });
    const run = await enrich("second.csv", "--only-new", "--json");
    expect(run.code).toBe(0);
    expect(asked()).toBe(101);
    expect(JSON.parse(run.stdout) as Manifest).toMatchObject({
      input: { rows: 204 },
      output: { rows: 103 },
      skipped: 101,
      statuses: { complete: 102, unsupported: 1 },
      sources: { live: 101, duplicate: 1 },
    });
    const found = await rows(
      "SELECT count(*) AS n, count(DISTINCT rep_item) AS items FROM enriched",
    );
    expect(found).toEqual([{ n: 303n, items: 301n }]);
    expect(await runRepute(["verify", table], { cwd })).toMatchObject({ code: 0 });
    const again = await enrich("second.csv", "--only-new");
    expect(again.stderr).toMatch(/204 read, 1 written, 203 skipped \(already in the table\)/);
    const nothingNew = await enrich("first.csv", "--only-new", "--quiet");
    expect(nothingNew).toMatchObject({ code: 0, stderr: "" });
  });

  it("looks up again what is not complete or, with an age, too old", async () => {
    const { cwd, asked, enrich, rows } = await prepared();
    await rows(`UPDATE enriched SET
      rep_status = CASE WHEN rep_row <= 10 THEN 'failed' WHEN rep_row <= 30 THEN 'partial' ELSE rep_status END,
      rep_looked_up_at = CASE WHEN rep_row > 160 THEN now() - INTERVAL 169 HOUR
        WHEN rep_row > 100 THEN now() - INTERVAL 167 HOUR ELSE rep_looked_up_at END`);
    const plan = async (...onlyNew: readonly string[]): Promise<unknown> => {
      const flags = ["--lookups", "query", "--json", "-o", table];
      const { stdout } = await runRepute(["plan", ...onlyNew, "first.csv", ...flags], { cwd });
      return (JSON.parse(stdout) as { skipped: unknown }).skipped;
    };
    expect(await plan("--only-new")).toBe(170);
    expect(await plan("--only-new", "7d")).toBe(130);
    expect(await plan("--only-new=999999999d")).toBe(170);
    const run = await enrich("--only-new", "7d", "first.csv", "--json");
    expect(JSON.parse(run.stdout) as Manifest).toMatchObject({
      output: { rows: 70 },
      skipped: 130,
    });
    expect(asked()).toBe(70);
    expect(await plan("--only-new", "7d")).toBe(200);
  });

  it("decides by the table as it was when the run began, also after --resume", async () => {
    const { cwd, asked, enrich, rows } = await prepared();
    await writeFile(join(cwd, "third.csv"), hosts(150, 400) + hosts(150, 400).slice(5));
    const args = ["third.csv", "--only-new", "--resume"];
    expect(await enrich(...args, "--max-requests", "60")).toMatchObject({ code: 75 });
    const state = (await readdir(cwd)).find((name) => name.endsWith(".state")) ?? "";
    expect(await readdir(join(cwd, state))).toContain("known-items");
    const run = await enrich(...args, "--json");
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout) as Manifest).toMatchObject({
      input: { rows: 500 },
      output: { rows: 400 },
      skipped: 100,
    });
    expect(asked()).toBe(200);
    expect(await rows("SELECT count(*) AS n FROM enriched")).toEqual([{ n: 600n }]);
  });

  it("is refused where the rows of known items would not stay", async () => {
    const { cwd, enrich } = await prepared();
    await writeFile(join(cwd, "third.csv"), hosts(150, 400));
    expect(await enrich("third.csv", "--only-new", "--mode", "replace")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("would remove the rows of all items it skips"),
    });
  });
});
