import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import { serveHere } from "../../helpers/serve-here.js";
import { column, servedWorkspace, workspace } from "../../helpers/workspace.js";
import { runningService } from "../../service/running-service.js";

const samples = new URL("../../../samples/", import.meta.url);

test("answers that a remote service invented stay marked as such in the cache", async () => {
  const { manifest, run, write } = await workspace({ "in.csv": "ip\n198.51.100.7\n" });
  const invented = await runningService({ synthetic: 1 });
  const args = ["enrich", "in.csv", "--quiet", "--cache", "cache"];
  const manifestFrom = async (url: string, out: string): Promise<Manifest> => {
    expect(await run(...args, "-o", out, "--intel-url", url)).toMatchObject({ code: 0 });
    return manifest(out);
  };
  const { intelUrl, port } = invented;
  expect(await manifestFrom(intelUrl, "first.csv")).toMatchObject({ synthetic: true });
  await invented.close();
  await runningService({ port });
  expect(await manifestFrom(intelUrl, "second.csv")).toMatchObject({
    synthetic: true,
    requests: {},
  });
  const report = await run("report", "second.csv");
  expect(report.stdout).toContain("Invented data");
  await write("in.csv", "ip\n198.51.100.8\n");
  expect(await manifestFrom(intelUrl, "third.csv")).not.toHaveProperty("synthetic");
});

test("repeats a run without requests and names the sources of its answers", async () => {
  const indicators = await readFile(new URL("indicators.csv", samples));
  const { manifest, records, run } = await workspace({ "in.csv": indicators });
  const { line, stop } = await serveHere(["--json"]);
  onTestFinished(() => void stop());
  const { intel_url: url, ops_url: root } = JSON.parse(line) as Record<string, string>;
  const asked = async (): Promise<unknown> => (await fetch(`${root}/_local/stats`)).json();
  const night = async (out: string) => {
    const args = ["enrich", "in.csv", "-o", out, "--cache", "cache", "--intel-url", url!];
    expect(await run(...args, "--quiet")).toMatchObject({ code: 0, stderr: "" });
    return { records: await records(out), manifest: await manifest(out) };
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
  const names = Array.from({ length: 10 }, (_, n) => `n${n}.example.com`);
  const { ask, manifest, server } = await servedWorkspace({ "in.csv": column("domain", names) });
  const flags = ["--cache", "cache", "--partial-retries", "0", "--quiet"];
  server.partial.add("n3.example.com");
  await ask("enrich", "in.csv", "-o", "out.csv", ...flags);
  server.partial.clear();
  const asked = server.total;
  const retried = await ask("retry", "out.csv", "-o", "again.csv", ...flags);
  expect(retried).toMatchObject({ code: 0, stderr: "" });
  expect(server.total - asked).toBe(1);
  expect((await manifest("again.csv")).statuses).toMatchObject({ complete: 10, partial: 0 });
  // The next run finds the new answers.
  await ask("enrich", "in.csv", "-o", "third.csv", ...flags);
  expect([server.total - asked, (await manifest("third.csv")).statuses.partial]).toEqual([1, 0]);
});
