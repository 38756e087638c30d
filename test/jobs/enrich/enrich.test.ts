import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runRepute, startRepute } from "../../helpers/run-repute.js";
import { column, servedWorkspace, workspace } from "../../helpers/workspace.js";

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
