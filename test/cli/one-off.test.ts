import { describe, expect, test } from "vitest";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { reply, startScriptedServer } from "../helpers/scripted-server.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { runInProcess } from "./run-in-process.js";

function lines(stdout: string): unknown[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe("an argument that is not an item", () => {
  test.each(["not an item", "setup.exe", "d41d8cd98f00b204e9800998ecf8427e", "192.0.2.0/24"])(
    "%s exits with 3, unless nothing counts",
    async (text) => {
      for (const command of ["query", "quick-check"]) {
        const args = [command, text, "192.0.2.1", "--local"];
        expect([command, (await runRepute(args)).code]).toEqual([command, 3]);
        expect((await runRepute([...args, "--fail-on", "never"])).code).toBe(0);
      }
    },
  );

  test("is not a host that must not be sent", async () => {
    expect((await runRepute(["query", "http://10.0.0.1/", "--local"])).code).toBe(0);
  });
});

test.each(["query", "quick-check"])("%s answers from the cache, and fills it", async (command) => {
  const item = "example.com";
  const common = { item, serviceMailBlocklist: "NOT_LISTED", intent: "none", type: "DOMAIN" };
  const seen = { tags: [], firstSeen: null, lastSeen: null, observedActivity: null };
  const result = { ...common, ...seen, bogon: false, activity: false };
  const { url, requests } = await startScriptedServer([
    reply(200, { status: "success", statusCode: 200, result }),
  ]);
  const cache = await temporaryFolder();
  const args = [command, item, "--intel-url", url, "--cache", cache];
  for (const source of ["live", "cache"]) {
    expect(lines((await runRepute(args)).stdout)).toMatchObject([{ source }]);
  }
  expect(requests).toHaveLength(1);
  const planned = ["plan", "--intel-url", url, "--cache", cache];
  const { stdout } = await runRepute(planned, { stdin: "example.com\n" });
  expect(stdout).toMatch(new RegExp(`^already cached +${command} 1$`, "m"));
});

describe("query", () => {
  test.each([
    [["192.0.2.1", " no item "], null, ["192.0.2.1", " no item "]],
    [[], "a.example\r\n\r\n# n\n 192.0.2.1 \nc.example", ["a.example", "192.0.2.1", "c.example"]],
    [["b.example", "-", "c.example"], "a.example\n", ["b.example", "a.example", "c.example"]],
  ])("reads the arguments, and stdin without any or for a dash: %j", async (args, stdin, items) => {
    const { stdout } = await runInProcess(["query", "--local", ...args], { stdin });
    expect(lines(stdout)).toMatchObject(items.map((item) => ({ item })));
  });

  test("requires arguments if stdin is a terminal", async () => {
    const stderr = expect.stringContaining("nothing to look up") as string;
    const ended = await runInProcess(["query", "--local"], { stdin: null });
    expect(ended).toMatchObject({ code: 2, stderr });
  });

  test("answers with a line for each argument, in order", async () => {
    const args = ["query", "192.0.2.1", "hxxps[:]//example[.]com/a", "setup.exe", "--local"];
    const { code, stdout, stderr } = await runRepute(args);
    expect([code, stderr]).toEqual([3, ""]);
    expect(lines(stdout)).toMatchObject([
      { item: "192.0.2.1", kind: "ip", status: "complete" },
      { item: "https://example.com/a", kind: "url", status: "complete" },
      { item: "setup.exe", kind: null, status: "unsupported" },
    ]);
  });

  test("says that a reserved address was not sent", async () => {
    const args = ["query", "192.0.2.1", "--intel-url", "http://127.0.0.1:9/beta"];
    const { code, stderr } = await runRepute([...args, "--bogons", "local"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("1 reserved address answered")]);
  });

  test("ends with 3 if a lookup failed, unless with --fail-on never", async () => {
    const { url } = await startScriptedServer([reply(404)]);
    const args = ["query", "192.0.2.1", "--intel-url", url];
    const { code, stdout } = await runRepute(args);
    expect([code, lines(stdout)]).toMatchObject([3, [{ error: { code: "http_404" } }]]);
    expect((await runRepute([...args, "--fail-on", "never"])).code).toBe(0);
  });

  test("ends with 1 when the service refuses the credential, also while stdin is open", async () => {
    const { url } = await startScriptedServer([reply(401)]);
    const { child, result } = startRepute(["query", "-", "--intel-url", url]);
    child.stdin?.write("192.0.2.1\n");
    const { code, stderr } = await result;
    expect(code).toBe(1);
    expect(stderr).toContain("REPUTE_API_KEY");
  });

  test("ends quietly when its reader disconnects", async () => {
    const { child, result, waitFor } = startRepute(["query", "-", "--local"]);
    child.stdin?.end("192.0.2.1\n".repeat(50_000));
    await waitFor("stdout", /\n/);
    child.stdout?.destroy();
    expect(await result).toMatchObject({ code: 0, signal: null, stderr: "" });
  });

  test.each([
    ["SIGINT", 130],
    ["SIGQUIT", 131],
  ] as const)(
    "answers an item before the next one arrives, and ends with its code on %s",
    async (name, code) => {
      const { child, waitFor, result } = startRepute(["query", "-", "--local"]);
      child.stdin?.write("192.0.2.1\n");
      await waitFor("stdout", /"item":"192\.0\.2\.1".*\n/);
      child.kill(name);
      expect(await result).toMatchObject({ code, stderr: `repute: stopped by ${name}\n` });
    },
  );
});

test("quick-check makes only the quick check", async () => {
  const { code, stdout } = await runRepute(["quick-check", "192.0.2.1", "--local"]);
  expect([code, lines(stdout)]).toMatchObject([0, [{ query: null, quick_check: { type: "IP" } }]]);
});
