import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { runRepute } from "../../../helpers/run-repute.js";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { domainResult, quickCheckResult, success } from "../../../client/api/answers.js";
import { column, workspace } from "../../../helpers/workspace.js";

const concurrency = 8;
const pace = ["--concurrency", String(concurrency), "--rate", "100000/s"];

/** A service that answers 404 to every path that is not below /beta/. */
function serving() {
  return startScriptedServer(({ path }) => {
    if (!path.startsWith("/beta/")) return reply(404);
    const item = path.slice(path.lastIndexOf("/") + 1);
    const result = path.includes("/quick-check/") ? quickCheckResult() : domainResult();
    return reply(200, success({ ...result, ...nothingKnown, item }));
  });
}

const nothingKnown = { type: "DOMAIN", intent: "none", serviceMailBlocklist: "NOT_LISTED" };

const hosts = (count: number) => Array.from({ length: count }, (_, n) => `h${n}.example.com`);

const folderWith = (rows: number) => workspace({ "in.csv": column("domain", hosts(rows)) });

test("stops the run on an address without /beta, keeps the output and leaves no other file", async () => {
  const server = await serving();
  const { cwd, read, run, write } = await folderWith(300);
  await write("out.csv", "of last night\n");
  const args = ["enrich", "in.csv", "-o", "out.csv", ...pace];
  const wrong = await run(...args, "--intel-url", server.url);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toMatch(/first 20 answers of (query|quick-check) at .* were all 404/);
  expect(wrong.stderr).toContain("does the address end in /beta?");
  expect(wrong.stderr).not.toContain("--resume");
  // Each endpoint gets 19 answers before its 20th; open requests are then cancelled.
  expect(server.requests.length).toBeLessThan(2 * 20 + concurrency);
  expect((await readdir(cwd)).sort()).toEqual(["in.csv", "out.csv"]);
  expect(await read("out.csv")).toBe("of last night\n");

  const right = await run(...args, "--intel-url", `${server.url}/beta`);
  expect([right.code, right.stderr]).toEqual([0, expect.stringContaining("complete  300")]);
});

test("completes a shorter run and warns about the address", async () => {
  const server = await serving();
  const { manifest, run } = await folderWith(12);
  const args = ["enrich", "in.csv", "-o", "out.csv", "--lookups", "query", "--quiet"];
  const { code, stderr } = await run(...args, "--intel-url", server.url);
  expect(code).toBe(3);
  const [warning = "", advice] = stderr.split("\n");
  expect(warning).toBe(
    `repute: warning: all 12 answers of query at ${server.url} were 404 Not Found: does the address end in /beta?`,
  );
  expect(advice).toMatch(/^repute: warning: 12 failed of 12 rows, most often http_404 \(12\); /);
  expect(await manifest()).toMatchObject({
    warnings: { [warning.slice("repute: warning: ".length)]: 1 },
  });
});

test("retry also stops and keeps the earlier output", async () => {
  const server = await serving();
  const { cwd, read, run, write } = await folderWith(50);
  const enrich = ["enrich", "in.csv", "-o", "out.csv", "--local", "--fail-on", "never", "--quiet"];
  expect(await run(...enrich)).toMatchObject({ code: 0 });
  await write("out.csv", (await read("out.csv")).replaceAll(",complete,", ",failed,"));
  const retry = ["retry", "out.csv", "-o", "out2.csv", "--intel-url", server.url];
  const stderr = expect.stringContaining("does the address end in /beta?");
  expect(await run(...retry)).toMatchObject({ code: 1, stderr });
  expect((await readdir(cwd)).sort()).toEqual(["in.csv", "out.csv", "out.csv.manifest.json"]);
});

test("single lookups also stop", async () => {
  const server = await serving();
  const query = (command: string, count: number) =>
    runRepute([command, ...hosts(count), "--intel-url", server.url, ...pace]);
  const stderr = expect.stringContaining("does the address end in /beta?");
  expect(await query("query", 40)).toMatchObject({ code: 1, stderr });
  expect(server.requests.length).toBeLessThan(20 + concurrency);
  expect(await query("query", 20)).toMatchObject({ code: 1 });
  const few = expect.stringContaining("all 2 answers of quick-check");
  expect(await query("quick-check", 2)).toMatchObject({ code: 3, stderr: few });
});
