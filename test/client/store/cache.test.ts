import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, onTestFinished, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import { startService } from "../../../src/service/service.js";
import { startAnsweringServer, type AnsweringServer } from "../../helpers/answering-server.js";
import { runRepute } from "../../helpers/run-repute.js";
import { serveHere } from "../../helpers/serve-here.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const samples = new URL("../../../samples/", import.meta.url);

type Record_ = Readonly<Record<string, string>>;

async function recordsOf(path: string): Promise<readonly Record_[]> {
  return parse(await readFile(path, "utf8"), { columns: true });
}

async function manifestOf(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(`${path}.manifest.json`, "utf8")) as Manifest;
}

async function serving(): Promise<AnsweringServer> {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  return server;
}

/** A folder with an input of this many domains, and a function that enriches it with a cache. */
async function prepared(server: AnsweringServer, rows: number) {
  const cwd = await temporaryFolder();
  const names = Array.from({ length: rows }, (_, n) => `n${n}.example.com\n`);
  await writeFile(join(cwd, "in.csv"), `domain\n${names.join("")}`);
  const flags = ["--cache", "cache", "--intel-url", server.url, "--rate", "100000/s", "--quiet"];
  const args = (...more: readonly string[]) => ["enrich", "in.csv", ...flags, ...more];
  return { cwd, args, enrich: (...more: string[]) => runRepute(args(...more), { cwd }) };
}

test("answers that a remote service invented stay marked as such in the cache", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "ip\n198.51.100.7\n");
  const invented = await startService({ synthetic: 1 });
  onTestFinished(() => invented.close());
  const args = ["enrich", "in.csv", "--quiet", "--cache", "cache"];
  const manifestFrom = async (url: string, out: string): Promise<Manifest> => {
    expect(await runRepute([...args, "-o", out, "--intel-url", url], { cwd })).toMatchObject({
      code: 0,
    });
    return manifestOf(join(cwd, out));
  };
  const { intelUrl, port } = invented;
  expect(await manifestFrom(intelUrl, "first.csv")).toMatchObject({ synthetic: true });
  await invented.close();
  const real = await startService({ port });
  onTestFinished(() => real.close());
  expect(await manifestFrom(intelUrl, "second.csv")).toMatchObject({
    synthetic: true,
    requests: {},
  });
  const report = await runRepute(["report", "second.csv"], { cwd });
  expect(report.stdout).toContain("Invented data");
  await writeFile(join(cwd, "in.csv"), "ip\n198.51.100.8\n");
  expect(await manifestFrom(intelUrl, "third.csv")).not.toHaveProperty("synthetic");
});

test("repeats a run without requests and names the sources of its answers", async () => {
  const cwd = await temporaryFolder();
  await copyFile(new URL("indicators.csv", samples), join(cwd, "in.csv"));
  const { line, stop } = await serveHere(["--json"]);
  onTestFinished(() => void stop());
  const { intel_url: url, ops_url: root } = JSON.parse(line) as Record_;
  const asked = async (): Promise<unknown> => (await fetch(`${root}/_local/stats`)).json();
  const night = async (out: string) => {
    const args = ["enrich", "in.csv", "-o", out, "--cache", "cache", "--intel-url", url!];
    expect(await runRepute([...args, "--quiet"], { cwd })).toMatchObject({ code: 0, stderr: "" });
    return { records: await recordsOf(join(cwd, out)), manifest: await manifestOf(join(cwd, out)) };
  };
  const first = await night("first.csv");
  const before = await asked();
  const second = await night("second.csv");
  expect(await asked()).toEqual(before);
  expect(second.manifest.requests).toEqual({});
  const { sample = 0, duplicate = 0 } = first.manifest.sources;
  expect([sample > 0, duplicate > 0]).toEqual([true, true]);
  const cache = sample + duplicate;
  expect(second.manifest.sources).toEqual({
    live: 0,
    cache,
    duplicate: 0,
    local: expect.any(Number),
  });
  const fromCache = first.records.map((record) => {
    const asked = record["rep_source"] !== "";
    return asked ? Object.assign({}, record, { rep_source: "cache" }) : record;
  });
  expect(second.records).toEqual(fromCache);
});

test("retry requests partial answers again even if they are cached", async () => {
  const server = await serving();
  const { cwd, enrich } = await prepared(server, 10);
  server.partial.add("n3.example.com");
  const flags = ["--lookups", "query", "--partial-retries", "0"];
  await enrich("-o", "out.csv", ...flags);
  server.partial.clear();
  const asked = server.total;
  const service = ["--intel-url", server.url, "--cache", "cache", "--quiet"];
  const retry = ["retry", "out.csv", "-o", "again.csv", ...flags, ...service];
  expect(await runRepute(retry, { cwd })).toMatchObject({ code: 0, stderr: "" });
  expect(server.total - asked).toBe(1);
  expect((await manifestOf(join(cwd, "again.csv"))).statuses).toMatchObject({
    complete: 10,
    partial: 0,
  });
  // The next run finds the new answers.
  await enrich("-o", "third.csv", ...flags);
  expect([
    server.total - asked,
    (await manifestOf(join(cwd, "third.csv"))).statuses.partial,
  ]).toEqual([1, 0]);
});
