import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "../helpers/answering-server.js";
import { RedisServer } from "../helpers/redis-server.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const password = "p@ss:w/rd-1";

let redis: RedisServer;
let service: AnsweringServer;
let folder: string;

beforeAll(async () => {
  redis = await RedisServer.start({ password });
});
afterAll(() => redis?.stop());

beforeEach(async ({ onTestFinished }) => {
  service = await startAnsweringServer();
  folder = await temporaryFolder();
  onTestFinished(() => service.close());
});

/** Writes a dump and returns the arguments that enrich it with a pace in Redis. */
async function dump(name: string, rows: number, ...flags: readonly string[]): Promise<string[]> {
  const items = Array.from({ length: rows }, (_, n) => `${name}-${n}.example.com`);
  const path = join(folder, `${name}.csv`);
  await writeFile(path, `domain\n${items.join("\n")}\n`);
  const output = join(folder, `${name}.out.csv`);
  const common = ["--intel-url", service.url, "--lookups", "query", "--pace", redis.url()];
  return ["enrich", path, "-o", output, ...common, ...flags];
}

const env = { REDISCLI_AUTH: password };

test("a run waits while Redis is away, and goes on after a restart that lost everything", async () => {
  const run = startRepute(await dump("away", 600, "--rate", "200/s"), { env });
  while (service.total < 100) await delay(10);
  await redis.kill();
  await run.waitFor("stderr", /redis:\/\/127\.0\.0\.1:\d+\/0 is away/);
  // Requests that had left before are answered meanwhile.
  await delay(200);
  const during = service.total;
  await delay(600);
  expect(service.total).toBe(during);
  await redis.startServer();
  await redis.command("FLUSHALL");
  await run.waitFor("stderr", /is back after \d+ s; the run continues/);
  await redis.command("SCRIPT", "FLUSH");
  const { code, stderr } = await run.result;
  expect(code).toBe(0);
  expect(stderr.match(/^repute: warning: .* is away/gm)).toHaveLength(1);
  expect(stderr).not.toContain(password);
  expect(service.total).toBe(600);
  const rows = (await readFile(join(folder, "away.out.csv"), "utf8")).trimEnd().split("\n");
  expect(rows).toHaveLength(601);
});

test("a run waits while Redis hangs", async () => {
  const run = startRepute(await dump("hangs", 300, "--rate", "100/s"), { env });
  while (service.total < 50) await delay(10);
  redis.pause(true);
  await run.waitFor("stderr", /is away \(no answer within 3 s\)/);
  redis.pause(false);
  const { code } = await run.result;
  expect(code).toBe(0);
  expect(service.total).toBe(300);
});

test("a daily quota over four processes is never exceeded, though one is killed", async () => {
  const rate = ["--rate", "2000/s", "--rate", "500/d", "--concurrency", "8"];
  const runs = await Promise.all(
    ["a", "b", "c", "d"].map(async (name) => startRepute(await dump(name, 400, ...rate), { env })),
  );
  while (service.total < 120) await delay(2);
  runs[0]?.child.kill("SIGKILL");
  const results = await Promise.all(runs.slice(1).map(({ result }) => result));
  expect(results.map(({ code }) => code)).toEqual([75, 75, 75]);
  expect(service.total).toBeLessThanOrEqual(500);
  // Only what the killed one had reserved is lost: a block of 1% and 8 requests.
  expect(service.total).toBeGreaterThanOrEqual(500 - 5 - 8);
});

test("a wrong password ends the run at once and is not shown", async () => {
  const args = await dump("login", 3);
  const { code, stderr } = await runRepute(args, { env: { REDISCLI_AUTH: "another-secret" } });
  expect(code).toBe(1);
  expect(stderr).toMatch(/redis:\/\/127\.0\.0\.1:\d+\/0: WRONGPASS/);
  expect(stderr).not.toContain("another-secret");
});

/** A run without a pace that keeps its answers in Redis. */
async function cachedDump(name: string, rows: number, ...flags: string[]): Promise<string[]> {
  const args = await dump("shared", rows, "--cache", redis.url(1), ...flags);
  const output = args.indexOf("-o") + 1;
  args[output] = join(folder, `${name}.out.csv`);
  args.splice(args.indexOf("--pace"), 2);
  return args;
}

const perItem = (): number => Math.max(...service.asked.values());

test("runs that share answers ask for an item once, in flight too, and never again", async () => {
  const rate = ["--rate", "2000/s"];
  const [first, second] = await Promise.all([
    startRepute(await cachedDump("first", 400, ...rate), { env }).result,
    startRepute(await cachedDump("second", 400, ...rate), { env }).result,
  ]);
  expect([first.code, second.code]).toEqual([0, 0]);
  expect(service.total).toBe(400);
  expect(perItem()).toBe(1);
  const third = await runRepute([...(await cachedDump("third", 400, ...rate)), "--json"], { env });
  expect(JSON.parse(third.stdout)).toMatchObject({ sources: { cache: 400, live: 0 } });
  expect(service.total).toBe(400);

  const flags = ["--cache", redis.url(1), "--intel-url", service.url, "--lookups", "query"];
  const plan = await runRepute(["plan", join(folder, "shared.csv"), "--json", ...flags], { env });
  expect(JSON.parse(plan.stdout)).toMatchObject({
    cached: { query: 400 },
    chosen: { requests: 0 },
  });
});

test("another run takes over what a killed one was asking", async () => {
  // The first run gets no answer, so that it dies with open requests.
  service.onRequest = () => false;
  const first = startRepute(await cachedDump("killed", 20), { env });
  while (service.total < 20) await delay(10);
  first.child.kill("SIGKILL");
  await first.result;
  service.onRequest = () => true;
  const second = await startRepute(await cachedDump("heir", 20), { env }).result;
  expect(second.code).toBe(0);
  expect(service.total).toBe(40);
});

test("a run continues without its cache while Redis is away, and uses it afterwards", async () => {
  const run = startRepute(await cachedDump("without", 500, "--rate", "100/s"), { env });
  while (service.total < 50) await delay(10);
  await redis.kill();
  await run.waitFor("stderr", /the cache redis:\/\/\S+ is away .*; the run continues without it/);
  await redis.startServer();
  await run.waitFor("stderr", /the cache redis:\/\/\S+ is back/);
  const { code } = await run.result;
  expect(code).toBe(0);
  expect(service.total).toBe(500);
});

test("doctor checks the Redis of pace and cache", async () => {
  const flags = ["--intel-url", service.url, "--pace", redis.url(), "--cache", redis.url(1)];
  const well = await runRepute(["doctor", ...flags], { env });
  expect(well.stdout).toMatch(/^ok +pace +redis:\/\/\S+\/0, answers$/m);
  expect(well.stdout).toMatch(/^ok +cache +redis:\/\/\S+\/1, answers$/m);
  const login = await runRepute(["doctor", ...flags], { env: { REDISCLI_AUTH: "not-this-one" } });
  expect(login.code).toBe(1);
  expect(login.stdout).toMatch(/^fail +pace +redis:\/\/\S+: WRONGPASS/m);
  expect(login.stdout + login.stderr).not.toContain("not-this-one");
});

test("plan tells how much of a shared quota is used", async () => {
  const rates = ["--rate", "2000/s", "--rate", "400/d"];
  const args = await dump("used", 40, ...rates);
  expect((await runRepute(args, { env })).code).toBe(0);
  const shared = ["--intel-url", service.url, "--pace", redis.url(), ...rates];
  const input = join(folder, "used.csv");
  const planned = ["plan", input, "--json", "--intel-url", service.url, "--rate", "400/d"];
  const shares = async (...flags: readonly string[]): Promise<unknown> =>
    JSON.parse((await runRepute([...planned, ...flags], { env })).stdout).chosen.quotas;
  expect(await shares()).toMatchObject([{ count: 400, spent: 0 }]);
  expect(await shares("--pace", redis.url())).toMatchObject([{ count: 400, spent: 40 }]);
  await redis.kill();
  const away = await runRepute([...planned, "--pace", redis.url()], { env });
  expect(away.stderr).toMatch(/redis:\/\/\S+ is away \(.*\): the use of quotas is unknown/);
  expect(JSON.parse(away.stdout).chosen.quotas).toMatchObject([{ spent: 0 }]);
  expect((await runRepute(["doctor", ...shared], { env })).stdout).toMatch(
    /^fail +pace +redis:\/\/\S+ is away/m,
  );
  await redis.startServer();
});
