import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Manifest } from "../../../../src/core/manifest.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { reply, type Step, startScriptedServer } from "../../../helpers/scripted-server.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import {
  ipResult,
  partialSuccess,
  quickCheckResult,
  success,
} from "../../../client/api/answers.js";

const items = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
const quiet = { serviceMailBlocklist: "NOT_LISTED", intent: "none" };

/** How the query answers, except about the first item, against which nothing is known. */
const weathers = {
  fair: (item) => reply(200, success({ ...ipResult(), item })),
  down: () => reply(500, {}),
  part: (item) =>
    reply(
      503,
      partialSuccess({ ...ipResult(), item, intent: null, serviceMailBlocklist: null, tags: null }),
    ),
} satisfies Record<string, (item: string) => Step>;

type Weather = keyof typeof weathers;

/** A folder with the output of a night for each weather. */
async function nights(names: readonly Weather[], lookups: string): Promise<string> {
  let weather: Weather = "fair";
  const server = await startScriptedServer(({ path }) => {
    const item = path.slice(path.lastIndexOf("/") + 1);
    if (path.includes("quick-check")) {
      return reply(200, success({ ...quickCheckResult(), ...quiet, item }));
    }
    if (item === items[0]) return reply(200, success({ ...ipResult(), ...quiet, item }));
    return weathers[weather](item);
  });
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.txt"), `${items.join("\n")}\n`);
  for (weather of names) {
    const flags = ["--lookups", lookups, "--retries", "0", "--partial-retries", "0"];
    const output = ["-o", `${weather}.csv`, "--metrics", `${weather}.prom`, "--fail-on", "never"];
    const address = ["--intel-url", `${server.url}/beta`, "--bogons", "ask"];
    const run = await runRepute(["enrich", "in.txt", ...output, ...address, ...flags], { cwd });
    expect(run.code).toBe(0);
    await writeFile(join(cwd, `${weather}.log`), run.stderr);
  }
  return cwd;
}

test("what a failed query leaves open is unknown everywhere, never none", async () => {
  const cwd = await nights(["down"], "query,quick-check");
  const text = (name: string): Promise<string> => readFile(join(cwd, name), "utf8");

  const rows = (await text("down.csv")).trim().split("\n").slice(1);
  expect(rows.map((row) => row.split(",").slice(3, 5).join())).toEqual([
    "complete,none",
    ...Array.from({ length: 3 }, () => "failed,"),
  ]);
  expect(await text("down.log")).toMatch(
    /verdict +none \(nothing known\) +1 +25\.0%\n +unknown +3 +75\.0%\n/,
  );
  const { verdicts } = JSON.parse(await text("down.csv.manifest.json")) as Manifest;
  expect(verdicts).toEqual({ malicious: 0, suspicious: 0, listed: 0, none: 1, unknown: 3 });
  expect(await text("down.prom")).toMatch(/verdict_rows\{.*verdict="unknown"\} 3\n/);

  const { stdout } = await runRepute(["report", "down.csv"], { cwd });
  expect(stdout).toMatch(/^Nothing is known against 1 of the 4 rows\.\n/);
  expect(stdout).toMatch(
    /\b3\s\(75\.0%\)\swere\sanswered\sin\spart, too\slittle\sfor\sa\sverdict\./,
  );
  expect(stdout).toMatch(/nothing known .* 1 +25\.0%\n/);
  expect(stdout).toMatch(/too little known .* 3 +75\.0%\n/);
  expect(stdout).toMatch(/not checkable +0 +0%\n/);
  expect(stdout).toMatch(/Without a verdict\n {2}3 {2}failed: /);
  await runRepute(["report", "down.csv", "-o", "r.html"], { cwd });
  expect((await text("r.html")).replaceAll(/<[^>]*>|\s+/g, " ")).toMatch(
    / 3 +too little known +75\.0% +0 +not checkable +0% /,
  );
});

test("says which members a partial answer lacks", async () => {
  const cwd = await nights(["part"], "query");
  const { stdout } = await runRepute(["report", "part.csv"], { cwd });
  expect(stdout).toContain(
    "3  partial: the answer lacks the intent and the mail blocklist status\n",
  );
});

test.each([
  ["down", "query,quick-check"],
  ["down", "query"],
  ["part", "query"],
] as const)(
  "a night of queries that are %s changes nothing, nor does the next (%s)",
  async (weather, lookups) => {
    const cwd = await nights(["fair", weather], lookups);
    for (const pair of [
      ["fair.csv", `${weather}.csv`],
      [`${weather}.csv`, "fair.csv"],
    ]) {
      expect(await runRepute(["diff", ...pair, "--exit-code"], { cwd })).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/ 1 the same, 3 /),
      });
    }
  },
);
