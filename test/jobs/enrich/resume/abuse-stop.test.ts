import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

test("SIGTERM ends a run that waits for stdin, and leaves no files", async () => {
  const cwd = await temporaryFolder();
  const args = ["enrich", "-o", "out.csv", "--intel-url", "http://127.0.0.1:9/beta"];
  const { child, result } = startRepute(args, { cwd });
  while (!existsSync(join(cwd, "out.csv.state"))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
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
