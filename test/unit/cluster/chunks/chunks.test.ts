import { queryDuckdb } from "../../../contract/warehouse-readers.js";
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSealedJson, sealJson } from "../../../../src/core/files/json-file.js";
import { verifyOutput } from "../../../../src/earlier/verify-output.js";
import { readOutput } from "../../../../src/earlier/read-output.js";
import type { Manifest } from "../../../../src/core/manifest/manifest.js";
import { type Service, startService } from "../../../../src/service/service.js";
import { ChunkedRun, comparable } from "../../../helpers/chunked-run.js";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { runRepute } from "../../../helpers/run-repute.js";

let service: Service;
beforeAll(async () => void (service = await startService({ synthetic: 1 })));
afterAll(() => service.close());

function requests(): number {
  return Object.values(service.stats().requests).reduce((sum, { total }) => sum + total, 0);
}

const rows = Array.from({ length: 10 }, (_, n) => `192.0.2.${n},"note\n${n}"\n`);
const csv = `ip,note\n${rows.join("")}`;

/** A run of three chunks; the last one has two rows. */
async function threeChunks(settings = {}): Promise<ChunkedRun> {
  const run = await ChunkedRun.of("in.csv", csv, { intelUrl: service.intelUrl, ...settings });
  await run.split(4);
  return run;
}

/** Names in the work folder that begin with a chunk's name. */
async function filesOf({ work }: ChunkedRun, chunk: number): Promise<readonly string[]> {
  return (await work.list()).filter((name) => name.startsWith(`chunk-0000${chunk}`)).sort();
}

describe("a divided run", () => {
  it("merges only when every chunk is done, and names those that are not", async () => {
    const run = await threeChunks();
    await run.enrich(1);
    const merging = run.merge("out.csv");
    await expect(merging).rejects.toMatchObject({
      code: "chunks_missing",
      message: expect.stringMatching(/^2 of 3 chunks .*\n {2}chunk 0: not done\n {2}chunk 2: not/),
      hint: expect.stringContaining("for n in 0 2; do repute enrich"),
    });
    expect(await readdir(run.folder)).toEqual(["in.csv", "work"]);
    await run.enrich(0);
    await run.enrich(2);
    const { output } = await run.merge("out.csv");
    expect(output.rows).toBe(10);
    expect((await verifyOutput(join(run.folder, "out.csv"), "rep_")).differences).toEqual([]);
    expect((await readdir(run.folder)).sort()).toEqual([
      "in.csv",
      "out.csv",
      "out.csv.manifest.json",
      "work",
    ]);
  });

  it("tells a scheduler on stdout how a chunk ended", async () => {
    const run = await threeChunks();
    const ended = async (chunk: number, reason: string): Promise<void> => {
      const call = ["enrich", "work", "--chunk", String(chunk), "--intel-url", service.intelUrl];
      const { code, stdout } = await runRepute([...call, "--json"], { cwd: run.folder });
      const { exit_reason, exit_code } = JSON.parse(stdout) as Manifest;
      expect({ exit_reason, exit_code }).toEqual({ exit_reason: reason, exit_code: code });
    };
    await ended(1, "done");
    await ended(7, "usage");
    await rm(join(run.folder, "work", "plan.json"));
    await ended(0, "usage");
  });

  it.each([
    ["changed", (text: string) => text.replace("complete", "comPlete"), /has changed/],
    ["cut off", (text: string) => text.slice(0, -10), /bytes instead of/],
  ])("does not merge a chunk that was %s, and does it again", async (_, damage, what) => {
    const run = await threeChunks();
    await run.enrichAll();
    const files = await filesOf(run, 1);
    const file = files.find((name) => /[0-9a-f]{8}\.csv$/.test(name)) ?? "";
    const path = run.work.pathOf(file);
    await writeFile(path, damage(await readFile(path, "utf8")));
    await expect(run.merge("out.csv")).rejects.toMatchObject({
      code: "chunks_missing",
      message: expect.stringMatching(what),
    });
    const warnings: string[] = [];
    const { wasDone } = await run.enrich(1, {}, { onWarning: (each) => void warnings.push(each) });
    expect(wasDone).toBe(false);
    expect(warnings).toEqual([expect.stringMatching(what)]);
    expect((await run.merge("out.csv")).output.rows).toBe(10);
  });

  it("does a chunk that is done only on request", async () => {
    const run = await threeChunks();
    const first = await run.enrich(0);
    const second = await run.enrich(0);
    expect(second).toEqual({ result: first.result, wasDone: true });
    const third = await run.enrich(0, { restart: true });
    expect(third.wasDone).toBe(false);
    expect(third.result.output.file).not.toBe(first.result.output.file);
  });

  it("keeps the first of two attempts at a chunk", async () => {
    const run = await threeChunks();
    const [one, other] = await Promise.all([run.enrich(0), run.enrich(0)]);
    expect([one, other].filter(({ wasDone }) => wasDone)).toHaveLength(1);
    expect(one.result.output.file).toBe(other.result.output.file);
    const { file } = one.result.output;
    expect((await filesOf(run, 0)).filter((name) => name.endsWith(".csv"))).toEqual([
      file,
      file.replace(".csv", ".rejects.csv"),
    ]);
  });

  it("continues an interrupted chunk without repeating a lookup", async () => {
    const run = await threeChunks({ concurrency: 1 });
    const before = requests();
    const stopped = run.enrich(1, { maxRequests: 3 });
    await expect(stopped).rejects.toMatchObject({ code: "requests_spent" });
    const { result } = await run.enrich(1);
    expect(result.manifest.resumed).toBe(1);
    const asked = Object.values(result.manifest.requests).map(({ total }) => total);
    expect(asked.reduce((sum, total) => sum + total, 0)).toBe(requests() - before);
    expect(result.manifest.sources).toMatchObject({ invented: 4, duplicate: 0 });
    expect((await filesOf(run, 1)).filter((name) => name.endsWith(".state"))).toEqual([]);
  });

  it("starts an interrupted chunk over when told to, and leaves nothing behind", async () => {
    const run = await threeChunks({ concurrency: 1 });
    await expect(run.enrich(1, { maxRequests: 3 })).rejects.toMatchObject({
      code: "requests_spent",
    });
    await expect(run.enrich(1, { resume: true, restart: true })).rejects.toMatchObject({
      code: "resume_or_restart",
    });
    const { result } = await run.enrich(1, { restart: true });
    expect(result.manifest.sources).toMatchObject({ invented: 4 });
    expect(await filesOf(run, 1)).toHaveLength(4);
  });

  it("refuses an input that has changed since it was split", async () => {
    const run = await threeChunks();
    await writeFile(run.input, csv.replace("192.0.2.5", "192.0.2.6"));
    await run.enrich(0);
    const before = requests();
    await expect(run.enrich(1)).rejects.toMatchObject({
      code: "input_changed",
      message: expect.stringContaining("chunk 1: "),
      hint: expect.stringContaining("split it again"),
    });
    expect(requests()).toBe(before);
  });

  it("refuses the plan of another version, a damaged one and none", async () => {
    const run = await threeChunks();
    const path = run.work.pathOf("plan.json");
    const text = await readFile(path, "utf8");
    await writeFile(path, sealJson({ ...openSealedJson(text), version: 99 }));
    await expect(run.enrich(0)).rejects.toMatchObject({ code: "plan_version" });
    await writeFile(path, text.replace("192", "193").replace('"ip"', '"iP"'));
    await expect(run.enrich(0)).rejects.toMatchObject({ code: "plan_damaged" });
    await rm(path);
    await expect(run.enrich(0)).rejects.toMatchObject({ code: "work_missing" });
    await expect(run.split(4)).resolves.toMatchObject({ chunks: { length: 3 } });
    await expect(run.split(4)).rejects.toMatchObject({
      code: "work_exists",
      message: expect.stringMatching(
        / has a complete plan already: .*in.csv, 10 rows in 3 chunks$/,
      ),
      hint: expect.stringContaining("--chunk N"),
    });
    await rm(path);
    await writeFile(join(run.folder, "work", "other.csv"), "");
    await expect(run.split(4)).rejects.toThrow(/is not empty$/);
  });

  it("joins Parquet chunks into one file", async () => {
    const run = await ChunkedRun.of("in.csv", csv, { intelUrl: service.intelUrl });
    const { plan_id } = await run.split(4, "parquet");
    await run.enrichAll();
    await expect(run.merge("out.csv")).rejects.toMatchObject({ code: "merge_format" });
    const { run_id, output } = await run.merge("out.parquet");
    expect([run_id, output.rows]).toEqual([plan_id, 10]);
    const path = join(run.folder, "out.parquet");
    expect((await verifyOutput(path, "rep_")).differences).toEqual([]);
    const items: string[] = [];
    for await (const batch of (await readOutput(path, "rep_")).records) {
      items.push(...batch.map((record) => record.text("item")));
    }
    expect(items).toEqual(rows.map((_, n) => `192.0.2.${n}`));
  });

  it("publishes staged chunks in a table, once", async () => {
    const run = await ChunkedRun.of("in.csv", csv, { intelUrl: service.intelUrl });
    const { plan_id } = await run.split(4, "parquet");
    await run.enrichAll();
    const file = join(run.folder, "out.duckdb");
    for (const _ of ["once", "twice"]) {
      const { run_id, output } = await run.merge(`duckdb:${file}?table=t`);
      expect([run_id, output.rows, output.format]).toEqual([plan_id, 10, "duckdb"]);
    }
    const found = await queryDuckdb("SELECT rep_run_id, rep_row, rep_item FROM t", file);
    expect(found).toEqual(
      rows.map((_, n) => ({
        rep_run_id: plan_id,
        rep_row: BigInt(n + 1),
        rep_item: `192.0.2.${n}`,
      })),
    );
  });

  it("judges all chunks together by --max-failed", async () => {
    const settings = { intelUrl: `${service.intelUrl}x`, retries: 0, maxFailed: "0" };
    const run = await ChunkedRun.of("in.csv", csv, settings);
    await run.split(4);
    await run.enrichAll();
    const { exit_reason, output, statuses } = await run.merge("out.csv");
    expect([exit_reason, statuses.failed]).toEqual(["too_many_failed", 10]);
    expect(output.path).toBe(join(run.folder, "out.csv.failed"));
  });

  it("is a matter of three commands", async () => {
    const run = await ChunkedRun.of("in.csv", csv, {});
    const cwd = run.folder;
    const repute = (...args: string[]) => runRepute(args, { cwd });
    const split = await repute("split", "in.csv", "-o", "work", "--rows-per-chunk", "4");
    expect([split.code, split.stderr]).toEqual([0, expect.stringContaining("3 chunks: 0 to 2")]);
    const local = ["--local", "--synthetic", "1"];
    for (const chunk of ["0", "1", "2"]) {
      const { code } = await repute("enrich", "work", "--chunk", chunk, ...local);
      expect(code).toBe(0);
    }
    const again = await repute("enrich", "work", "--chunk", "2", ...local);
    expect(again.stderr).toContain("chunk 2 was already done");
    expect(await repute("merge", "work", "-o", "out.csv")).toMatchObject({ code: 0 });
    expect(await repute("merge", "work", "-o", "/dev/null")).toMatchObject({ code: 0, stdout: "" });
    const one = await enrichHere({ input: ["in.csv", csv], intelUrl: service.intelUrl });
    expect(comparable(await run.read("out.csv"))).toEqual(comparable(one.text));
    for (const [flags, code] of [
      [["--chunk", "3"], "has no chunk 3"],
      [["--chunk", "0", "-o", "x.csv"], "--output does not go with --chunk"],
      [["--chunk", "0", "--rejects", "r.csv"], "give it to repute merge"],
      [["--chunk", "0", "--tag-ips", "tags"], "repute tags export --seen-in OUT -o DIR"],
      [["--chunk", "0", "--report", "r.html"], "repute report OUT -o REPORT.html"],
      [["--chunk", "0", "--gzip"], "ends in .gz compresses the output of repute merge"],
      [["--chunk", "0", "--raw"], "run enrich on the whole input"],
      [["--chunk", "0", "--recursive"], "--recursive does not go with --chunk"],
      [["--chunk", "0", "--lookups", "query"], "--lookups differs from the plan"],
    ] as const) {
      const refused = await repute("enrich", "work", ...flags, ...local);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(code)]);
    }
  });
});
