import { expect, test } from "vitest";
import { reply, type Step, startScriptedServer } from "../../../helpers/scripted-server.js";
import { type Workspace, workspace } from "../../../helpers/workspace.js";
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
async function nights(names: readonly Weather[], lookups: string): Promise<Workspace> {
  let weather: Weather = "fair";
  const server = await startScriptedServer(({ path }) => {
    const item = path.slice(path.lastIndexOf("/") + 1);
    if (path.includes("quick-check")) {
      return reply(200, success({ ...quickCheckResult(), ...quiet, item }));
    }
    if (item === items[0]) return reply(200, success({ ...ipResult(), ...quiet, item }));
    return weathers[weather](item);
  });
  const place = await workspace({ "in.txt": items.join("\n") });
  for (weather of names) {
    const flags = ["--lookups", lookups, "--retries", "0", "--partial-retries", "0"];
    const output = ["-o", `${weather}.csv`, "--metrics", `${weather}.prom`, "--fail-on", "never"];
    const address = ["--intel-url", `${server.url}/beta`, "--bogons", "ask"];
    const run = await place.run("enrich", "in.txt", ...output, ...address, ...flags);
    expect(run.code).toBe(0);
    await place.write(`${weather}.log`, run.stderr);
  }
  return place;
}

test("what a failed query leaves open is unknown everywhere, never none", async () => {
  const { manifest, read, run } = await nights(["down"], "query,quick-check");

  const rows = (await read("down.csv")).trim().split("\n").slice(1);
  expect(rows.map((row) => row.split(",").slice(3, 5).join())).toEqual([
    "complete,none",
    ...Array.from({ length: 3 }, () => "failed,"),
  ]);
  expect(await read("down.log")).toMatch(
    /verdict +none \(nothing known\) +1 +25\.0%\n +unknown +3 +75\.0%\n/,
  );
  const { verdicts } = await manifest("down.csv");
  expect(verdicts).toEqual({ malicious: 0, suspicious: 0, listed: 0, none: 1, unknown: 3 });
  expect(await read("down.prom")).toMatch(/verdict_rows\{.*verdict="unknown"\} 3\n/);

  const { stdout } = await run("report", "down.csv");
  expect(stdout).toMatch(/^Nothing is known against 1 of the 4 rows\.\n/);
  expect(stdout).toMatch(
    /\b3\s\(75\.0%\)\swere\sanswered\sin\spart, too\slittle\sfor\sa\sverdict\./,
  );
  expect(stdout).toMatch(/nothing known .* 1 +25\.0%\n/);
  expect(stdout).toMatch(/too little known .* 3 +75\.0%\n/);
  expect(stdout).toMatch(/not checkable +0 +0%\n/);
  expect(stdout).toMatch(/Without a verdict\n {2}3 {2}failed: /);
  await run("report", "down.csv", "-o", "r.html");
  expect((await read("r.html")).replaceAll(/<[^>]*>|\s+/g, " ")).toMatch(
    / 3 +too little known +75\.0% +0 +not checkable +0% /,
  );
});

test("says which members a partial answer lacks", async () => {
  const { run } = await nights(["part"], "query");
  const { stdout } = await run("report", "part.csv");
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
    const { run } = await nights(["fair", weather], lookups);
    for (const pair of [
      ["fair.csv", `${weather}.csv`],
      [`${weather}.csv`, "fair.csv"],
    ]) {
      expect(await run("diff", ...pair, "--exit-code")).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/ 1 the same, 3 /),
      });
    }
  },
);
