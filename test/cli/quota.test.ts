import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/service/service.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

test("a run whose quota is used up ends at once, resumable, and keeps the count", async () => {
  let requests = 0;
  const service = await startService({ onRequest: () => void requests++ });
  onTestFinished(() => service.close());
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: 20 }, (_, i) => `198.51.100.${i}`);
  await writeFile(join(cwd, "in.csv"), `ip\n${rows.join("\n")}\n`);
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl, "--quiet"];
  const limited = [...args, "--rate", "500/s", "--rate", "15/d", "--resume"];
  const first = await runRepute(limited, { cwd });
  expect(first.code).toBe(75);
  expect(first.stderr).toMatch(/the quota of 15 requests in 24 h is used up until .*--resume/);
  expect(requests).toBe(15);
  const second = await runRepute(limited, { cwd });
  expect([second.code, requests]).toEqual([75, 15]);
  const last = await runRepute([...args, "--resume"], { cwd });
  expect([last.code, requests, existsSync(join(cwd, "out.csv.state"))]).toEqual([0, 40, false]);
});

test("a run that begins anew knows what was asked before: rows are thrown away, not requests", async () => {
  let requests = 0;
  const service = await startService({ onRequest: () => void requests++ });
  onTestFinished(() => service.close());
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "ip\n198.51.100.1\n198.51.100.2\n198.51.100.3\n");
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl];
  const limited = [...args, "--rate", "4/d", "--quiet"];
  expect([(await runRepute(limited, { cwd })).code, requests]).toEqual([75, 4]);
  const anew = await runRepute([...limited, "--restart"], { cwd });
  expect([anew.code, requests]).toEqual([75, 4]);
});

test("an endpoint keeps its own rate beside that of all", async () => {
  const counts = { query: 0, other: 0 };
  const service = await startService({
    onRequest: (endpoint) => void (endpoint === "query" ? counts.query++ : counts.other++),
  });
  onTestFinished(() => service.close());
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "ip\n198.51.100.1\n198.51.100.2\n198.51.100.3\n");
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl];
  const run = await runRepute([...args, "--rate-query", "2/d", "--quiet"], { cwd });
  expect([run.code, counts.query]).toEqual([75, 2]);
  expect(counts.other).toBeGreaterThanOrEqual(2);
});

test("two processes with one cache use a day's quota up and never exceed it together", async () => {
  let requests = 0;
  const service = await startService({ onRequest: () => void requests++ });
  onTestFinished(() => service.close());
  const cwd = await temporaryFolder();
  const run = async (network: string, more: readonly string[] = []) => {
    const rows = Array.from({ length: 200 }, (_, i) => `${network}.${i}`);
    await writeFile(join(cwd, `${network}.csv`), `ip\n${rows.join("\n")}\n`);
    const args = ["enrich", `${network}.csv`, "-o", `${network}.out.csv`, "--cache", "cache"];
    const limits = ["--rate", "2000/s", "--rate", "300/d", "--lookups", "query", "--quiet"];
    return runRepute([...args, "--intel-url", service.intelUrl, ...limits, ...more], { cwd });
  };
  const both = await Promise.all([run("198.51.100"), run("203.0.113")]);
  expect(both.map(({ code }) => code)).toContain(75);
  expect(requests).toBeLessThanOrEqual(300);
  // What one of them gave back at its end is there for the next.
  const third = await run("192.0.2");
  expect([third.code, requests]).toEqual([75, 300]);
});

test("permits that a killed process held stay counted: the quota is not exceeded", async () => {
  let requests = 0;
  let reached: () => void = () => undefined;
  const some = new Promise<void>((resolve) => (reached = resolve));
  const service = await startService({
    latency: "20ms",
    onRequest: () => {
      if (++requests === 10) reached();
    },
  });
  onTestFinished(() => service.close());
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: 200 }, (_, i) => `198.51.100.${i}`);
  await writeFile(join(cwd, "in.csv"), `ip\n${rows.join("\n")}\n`);
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl];
  const limits = ["--rate", "50/s", "--rate", "100/d", "--lookups", "query", "--quiet"];
  const first = startRepute([...args, ...limits], { cwd });
  await some;
  first.child.kill("SIGKILL");
  await first.result;
  const second = await runRepute([...args, ...limits, "--resume"], { cwd });
  expect(second.code).toBe(75);
  expect(requests).toBeLessThanOrEqual(100);
  expect(requests).toBeGreaterThanOrEqual(99);
});
