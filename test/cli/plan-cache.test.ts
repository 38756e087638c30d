import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.js";
import type { Plan } from "../../src/pipeline/plan/plan.js";
import { cacheKeys } from "../../src/store/cache/cache-key.js";
import { openCache } from "../../src/store/cache/finding-cache.js";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { complete } from "../unit/lookup/findings.js";

const hourMs = 3_600_000;

/** The time now, plus so many hours. */
function later(hours: number): Clock {
  return {
    now: () => systemClock.now() + hours * hourMs,
    monotonic: () => systemClock.monotonic(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
}

/** A folder with inputs, a service and a cache, and the program that uses them at any hour. */
async function machine() {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  const cwd = await temporaryFolder();
  const common = ["--intel-url", server.url, "--cache", "cache"];
  const write = (name: string, rows: readonly string[]): Promise<void> =>
    writeFile(join(cwd, name), `item\n${rows.join("\n")}\n`);
  const plan = async (flags: readonly string[], hours = 0): Promise<Plan> => {
    const call = ["plan", "in.csv", "--json", ...common, ...flags];
    const { code, stdout, stderr } = await runRepute(call, { cwd, clock: later(hours) });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout) as Plan;
  };
  /** Makes a run, and returns its requests. */
  const asked = async (flags: readonly string[], hours = 0): Promise<readonly string[]> => {
    const before = new Map(server.asked);
    const call = ["enrich", "in.csv", "-o", "out.csv", "--quiet", "--resume", "--rate", "9999/s"];
    const { code } = await runRepute([...call, ...common, ...flags], { cwd, clock: later(hours) });
    expect([0, 3, 75]).toContain(code);
    return [...server.asked].flatMap(([key, n]) =>
      Array.from({ length: n - (before.get(key) ?? 0) }, () => key),
    );
  };
  return { server, cwd, write, plan, asked };
}

const names = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, n) => `n${from + n}.example.com`);

test.each([{ lookups: "query,quick-check" }, { lookups: "quick-check", bogons: "local" }])(
  "night after night, %j asks as often as its plan says",
  async ({ lookups, bogons = "ask" }) => {
    const { server, write, plan, asked } = await machine();
    const flags = ["--lookups", lookups, "--bogons", bogons];
    server.partial.add("n3.example.com");
    server.absent.add("n4.example.com");
    const nights: readonly (readonly [hours: number, rows: readonly string[]])[] = [
      [0, [...names(0, 20), "192.0.2.1", "10.0.0.1", "n3.example.com", "setup.exe"]],
      // Only what is new, partial or failed; partial answers expire after an hour.
      [2, [...names(10, 25), ...names(0, 10), "192.0.2.1"]],
      // Everything has expired but reserved ranges and what the night before had asked for.
      [25, [...names(0, 30), "192.0.2.1", "10.0.0.1"]],
      [25, [...names(0, 30), "192.0.2.1", "10.0.0.1"]],
    ];
    const counts: number[] = [];
    for (const [hours, rows] of nights) {
      await write("in.csv", rows);
      const { chosen } = await plan(flags, hours);
      const requests = await asked([...flags, "--partial-retries", "0"], hours);
      expect(requests).toHaveLength(chosen.requests);
      counts.push(chosen.requests);
    }
    expect(counts[0]).toBeGreaterThan(counts[1]!);
    expect(counts[2]).toBeGreaterThan(counts[3]!);
  },
);

test("tells what is fresh, what has expired and when the rest will", async () => {
  const { write, plan, asked } = await machine();
  const flags = ["--lookups", "query"];
  await write("in.csv", names(0, 4));
  await asked(flags);
  await write("in.csv", names(4, 6));
  await asked(flags, 20);
  await write("in.csv", names(0, 10));
  const early = await plan(flags, 23);
  expect(early).toMatchObject({ cached: { query: 6 }, expired: { query: 0 } });
  expect(early.expiring).toEqual([
    { after_seconds: 0, until_seconds: 3600, answers: 4 },
    { after_seconds: 6 * 3600, until_seconds: 86_400, answers: 2 },
  ]);
  // At 4 requests in 70 minutes, the first answers expire before the run is over.
  const slow = await plan([...flags, "--rate", "3/h"], 23);
  expect(slow.chosen).toMatchObject({ requests: 4, seconds: 3600, expiring_meanwhile: 4 });
  expect(await plan(flags, 25)).toMatchObject({
    cached: { query: 2 },
    expired: { query: 4 },
    chosen: { requests: 8, order: [{ part: "all", items: 8, requests: 8, covered_items: 8 }] },
  });
  const hurried = await plan([...flags, "--rate-query", "1/m", "--deadline", "150s"], 25);
  expect(hurried.chosen).toMatchObject({
    seconds: 420,
    limits: [{ by: "deadline", requests: 3 }, { by: "deadline" }],
    order: [{ covered_items: 3 }],
  });
});

/** Puts answers of these ages in days into the cache; the accused have an intent. */
async function fill(cwd: string, url: string, ages: Readonly<Record<string, number>>) {
  let days = 0;
  const store = await openCache({
    folder: join(cwd, "cache"),
    ttlMs: 24 * hourMs,
    clock: { now: () => systemClock.now() - days * 24 * hourMs },
    onWarning: (message) => expect(message).toBe(""),
  });
  const keyOf = cacheKeys(url, "query");
  for (const [name, age] of Object.entries(ages)) {
    days = Math.abs(age);
    const intent = age < 0 ? "malicious" : "none";
    const finding = complete({ item: name, type: "DOMAIN", intent });
    void store.put(keyOf({ kind: "domain", value: name }), finding);
  }
  await store.close();
}

const worstFirst = ["--refresh", "worst-first", "--lookups", "query,quick-check"];

test.each([1, 3, 4, 9, 12])("a budget of %i covers the items that the plan says", async (n) => {
  const { cwd, server, write, plan, asked } = await machine();
  await write("in.csv", names(0, 8));
  const [one, two, three, four] = names(1, 5);
  await fill(cwd, server.url, { [one!]: 3, [two!]: -2, [three!]: 9, [four!]: 0.5 });
  const flags = [...worstFirst, "--max-requests", String(n)];
  const { chosen } = await plan(flags);
  expect(chosen.requests).toBe(15);
  expect(chosen.order.map(({ part, items, requests }) => [part, items, requests])).toEqual([
    ["expired_with_verdict", 1, 2],
    ["expired", 2, 4],
    ["rest", 5, 9],
  ]);
  const requests = await asked([...flags, "--concurrency", "1"]);
  expect(requests).toHaveLength(n);
  const wanted = new Map(names(0, 8).map((name) => [name, name === four ? 1 : 2]));
  for (const request of requests) {
    const [, name = ""] = request.split(" ");
    wanted.set(name, wanted.get(name)! - 1);
  }
  const covered = [...wanted.values()].filter((left) => left === 0).length;
  expect(chosen.order.reduce((sum, part) => sum + part.covered_items, 0)).toBe(covered);
});

test("shows on a terminal what a budget covers", async () => {
  const { cwd, server, write } = await machine();
  await write("in.csv", names(0, 8));
  const [one, two, three] = names(1, 4);
  await fill(cwd, server.url, { [one!]: 3, [two!]: -2, [three!]: 9 });
  const call = ["plan", "in.csv", "--intel-url", server.url, "--cache", "cache", ...worstFirst];
  const { stdout } = await runRepute([...call, "--max-requests", "4"], { cwd });
  expect(stdout).toMatch(/^expired +query 3, quick-check 0$/m);
  expect(stdout).toMatch(/^limit +--max-requests allows 4 requests$/m);
  expect(stdout).toMatch(/^order +expired with a verdict: 1 item, 2 requests, all covered$/m);
  expect(stdout).toMatch(
    /^order +other expired: 2 items, 4 requests, of which the first 1 is covered, those answered until 2\d{3}-/m,
  );
  expect(stdout).toMatch(/^order +everything else: 5 items, 10 requests, not covered$/m);
});

test.each([
  ["without a cache", [], "needs --cache with a folder"],
  ["with a pipe", ["--cache", "cache"], "reads the input twice"],
])("plans no order %s, as no run has one", async (_name, flags, message) => {
  const url = ["--intel-url", "http://127.0.0.1:9/beta"];
  const { code, stderr } = await runRepute(["plan", "-", ...url, ...worstFirst, ...flags], {
    cwd: await temporaryFolder(),
    stdin: "item\na.example.com\n",
  });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
