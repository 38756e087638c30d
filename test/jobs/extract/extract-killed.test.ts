import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCopied } from "../../helpers/crash-copies.js";
import { runRepute, startRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** More items than are written at a time. */
const report = Array.from({ length: 4000 }, (_, n) => `seen h-${n}.example.com\n`).join("");

const earlier = "item,kind,file,line,count\nearlier.example.com,domain,old.txt,1,1\n";

async function prepared(): Promise<string> {
  const cwd = join(await temporaryFolder(), "run");
  await mkdir(cwd);
  await writeFile(join(cwd, "report.txt"), report);
  await writeFile(join(cwd, "found.csv"), earlier);
  return cwd;
}

test("an extraction killed at any write leaves the earlier file or the whole one", async () => {
  const cwd = await prepared();
  const args = ["extract", "report.txt", "-o", "found.csv", "--quiet"];
  const { code, copies } = await runCopied(args, cwd);
  const whole = await readFile(join(cwd, "found.csv"), "utf8");
  expect([code, whole.split("\n").length]).toEqual([0, 4002]);
  expect(await readdir(cwd)).toEqual(["found.csv", "report.txt"]);
  const left = await Promise.all(copies.map((copy) => readFile(join(copy, "found.csv"), "utf8")));
  const states = left.map((text) =>
    text === earlier ? "earlier" : text === whole ? "whole" : text,
  );
  expect(new Set(states)).toEqual(new Set(["earlier", "whole"]));
  // Half of a write is beside it, and the next run replaces it.
  const halves = await Promise.all(copies.map((copy) => readdir(copy)));
  const half = copies.findLast((_, at) => (halves[at]?.length ?? 0) > 2) ?? "";
  expect(half).not.toBe("");
  const again = join(await temporaryFolder(), "again");
  await cp(half, again, { recursive: true });
  expect(await runRepute(args, { cwd: again })).toMatchObject({ code: 0 });
  expect(await readFile(join(again, "found.csv"), "utf8")).toBe(whole);
  expect(await readdir(again)).toEqual(["found.csv", "report.txt"]);
});

test.each([
  ["SIGTERM", { code: 143, signal: null }],
  ["SIGINT", { code: 130, signal: null }],
  ["SIGKILL", { code: null, signal: "SIGKILL" }],
] as const)("%s while a pipe is read leaves the earlier file", async (signal, ended) => {
  const cwd = await prepared();
  const { child, result } = startRepute(["extract", "-", "-o", "found.csv"], { cwd });
  // More than a pipe holds: once it is taken, the program reads.
  const text = report.repeat(20);
  await new Promise<void>((resolve, reject) => {
    child.stdin?.write(text, (error) => (error ? reject(error) : resolve()));
  });
  child.kill(signal);
  expect(await result).toMatchObject(ended);
  expect(await readFile(join(cwd, "found.csv"), "utf8")).toBe(earlier);
  expect(await readdir(cwd)).toEqual(["found.csv", "report.txt"]);
});
