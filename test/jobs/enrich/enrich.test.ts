import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { runRepute, startRepute } from "../../helpers/run-repute.js";
import { column, servedWorkspace, workspace } from "../../helpers/workspace.js";
import { runningService } from "../../service/running-service.js";

const rows = "id,ip,note\n1,192.0.2.1,first\n2,198.51.100.7,second\n3,setup.exe,third\n";

describe("a run to a file", () => {
  test("writes every row with its columns first, and reports what it did", async () => {
    const { read, run } = await workspace({ "in.csv": rows });
    const result = await run("enrich", "in.csv", "-o", "out.csv", "--local");
    expect(result).toMatchObject({ code: 0, stdout: "" });
    expect(result.stderr).toMatch(
      /^repute: using column "ip" \(3 of 3 sampled cells are indicators\)\nrepute: 3 rows in .*\n {2}verdict +malicious +1 +33\.3%\n[^]*\n {2}rows +3 read, 3 written\n/,
    );
    const written = await read("out.csv");
    expect(written.split("\n").map((line) => line.split(",").slice(0, 4).join(","))).toEqual([
      "id,ip,note,rep_item",
      "1,192.0.2.1,first,192.0.2.1",
      "2,198.51.100.7,second,198.51.100.7",
      "3,setup.exe,third,",
      "",
    ]);
  });

  test("prints the manifest on stdout with --json", async () => {
    const { manifest, run } = await workspace({ "in.csv": rows });
    const { stdout, stderr } = await run("enrich", "in.csv", "-o", "out.csv", "--local", "--json");
    expect(stderr).toBe('repute: using column "ip" (3 of 3 sampled cells are indicators)\n');
    expect(JSON.parse(stdout)).toEqual(await manifest());
  });

  test("keeps the command line in the manifest, without secrets", async () => {
    const env = { REPUTE_API_KEY: "k-12345" };
    const { manifest, read, run, server } = await servedWorkspace({ "in.csv": rows }, { env });
    const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", server.url];
    const { stderr } = await run(...args);
    expect((await manifest()).command).toEqual(["repute", ...args]);
    const kept = await read("out.csv.manifest.json");
    expect(kept + stderr).not.toContain("k-12345");
  });
});

test("a run to stdout writes rows to stdout and the summary to stderr", async () => {
  const { code, stdout, stderr } = await runRepute(["enrich", "--local"], { stdin: rows });
  expect([code, stdout.split("\n").length]).toEqual([0, 5]);
  expect(stderr).toMatch(/^repute: using column "ip" .*\nrepute: 3 rows in /);
});

test("-o - writes the same bytes to stdout as to a file of that format", async () => {
  const args = ["enrich", "-o", "-", "--to", "ndjson", "--local", "--quiet"];
  const { stdout } = await runRepute(args, { stdin: "ip\n192.0.2.1\n" });
  expect(JSON.parse(stdout)).toMatchObject({ ip: "192.0.2.1", rep: { status: "complete" } });
});

test.each([
  ["SIGHUP", 129],
  ["SIGTERM", 143],
] as const)("a run ends with its code on %s and says how to continue", async (name, code) => {
  const ips = Array.from({ length: 2500 }, (_, n) => `198.51.${n % 100}.${n % 250}`);
  const { at, cwd, server } = await servedWorkspace({ "in.csv": column("ip", ips) });
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", server.url];
  const asked = server.untilAsked(10);
  const { child, result } = startRepute([...args, "--item-column", "ip"], { cwd });
  await Promise.race([asked, result]);
  // It starts no debugger.
  child.kill("SIGUSR1");
  await Promise.race([server.untilAsked(server.total + 20), result]);
  child.kill(name);
  const told = `stopped by ${name}\n  \\d+ rows? written, \\d+% done; progress is saved; to continue, repeat the command with --resume`;
  expect(await result).toEqual({
    code,
    signal: null,
    stdout: "",
    stderr: expect.stringMatching(new RegExp(`^repute: ${told}\n$`)) as string,
  });
  expect(existsSync(at("out.csv"))).toBe(false);
});

test("SIGTERM ends a run that waits for stdin, and leaves no files", async () => {
  const { at, cwd } = await workspace();
  const args = ["enrich", "-o", "out.csv", "--intel-url", "http://127.0.0.1:9/beta"];
  const { child, result } = startRepute(args, { cwd });
  await vi.waitUntil(() => existsSync(at("out.csv.state")), { timeout: 20_000, interval: 10 });
  child.kill("SIGTERM");
  expect(await result).toMatchObject({
    code: 143,
    stderr: "repute: stopped by SIGTERM\n  nothing was saved; run the command again\n",
  });
  expect(await readdir(cwd)).toEqual([]);
});

test("SIGINT ends a run whose reader has stopped reading", async () => {
  const { child, result } = startRepute(["enrich", "--from", "text", "--local"]);
  child.stdout?.pause();
  child.stdin?.end("192.0.2.1\n".repeat(20_000));
  await new Promise((resolve) => child.stdout?.once("readable", resolve));
  child.kill("SIGINT");
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(130);
  child.stdout?.resume();
  expect((await result).stderr).toMatch(/^repute: stopped by SIGINT\n/);
});

test("failed attempts count against --max-requests, which is never exceeded", async () => {
  let requests = 0;
  const onRequest = () => void requests++;
  const service = await runningService({ unavailableRate: 0.4, onRequest });
  const rows = Array.from({ length: 20 }, (_, i) => `198.51.100.${i}`);
  const { runWith } = await workspace({ "in.csv": column("ip", rows) });
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl];
  const clock = new HurriedClock();
  const { code, stderr } = await runWith({ clock }, ...args, "--max-requests", "30");
  expect([code, requests]).toEqual([75, 30]);
  expect(stderr).toMatch(/^repute: stopped early: --max-requests 30 is used up;.*--resume\n$/m);
});
