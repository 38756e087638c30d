import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "../../helpers/answering-server.js";
import { comparableRows } from "../../helpers/comparable-rows.js";
import { RedisServer } from "../../helpers/redis-server.js";
import { type RunningRepute, runRepute, startRepute } from "../../helpers/run-repute.js";
import { worstSecond } from "../../helpers/pace-simulation.js";
import { type Workspace, workspace } from "../../helpers/workspace.js";

let service: AnsweringServer;
let place: Workspace;

const redis = await RedisServer.start();
afterAll(() => redis.stop());

beforeEach(async () => {
  await redis.command("FLUSHALL");
  [service, place] = await Promise.all([startAnsweringServer(), workspace()]);
});

function dump(rows: number): Promise<void> {
  const lines = Array.from({ length: rows }, (_, n) => `${n},h${n}.example.com\n`);
  return place.write("in.csv", `n,domain\n${lines.join("")}`);
}

async function worker(...flags: readonly string[]): Promise<RunningRepute> {
  const working = startRepute(["worker", redis.url(), "--intel-url", service.url, ...flags]);
  await working.waitFor("stderr", /answering lookups/);
  return working;
}

function args(output: string, ...flags: readonly string[]): string[] {
  return ["enrich", "in.csv", "-o", output, "--intel-url", service.url, ...flags];
}

const queries = (): readonly string[] => ["--workers", redis.url(), "--lookups", "query"];

/** Runs `enrich` with a query for each row, through workers. */
function enrich(...flags: readonly string[]) {
  return place.run(...args("out.csv", ...queries(), ...flags));
}

/** The same in a process of its own. */
function startEnrich(output: string, ...flags: readonly string[]): RunningRepute {
  return startRepute(args(output, ...queries(), ...flags), { cwd: place.cwd });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

/** The rows of an output without their times. */
async function rowsOf(name: string): Promise<readonly string[]> {
  const rows = comparableRows(await readFile(place.at(name)), name);
  return rows.map((row) => row.replaceAll(/,202\d-[^,]*Z,/g, ","));
}

const fast = ["--rate", "5000/s"];

test("the rows and counts of a run with three workers are those of one without", async () => {
  await dump(600);
  await place.write("corp.txt", "h17.example.com\n");
  for (let n = 0; n < 600; n += 7) service.partial.add(`h${n}.example.com`);
  for (let n = 3; n < 600; n += 50) service.absent.add(`h${n}.example.com`);
  for (let n = 5; n < 600; n += 60) service.malicious.add(`h${n}.example.com`);
  const how = ["--lookups", "triage", "--partial-retries", "1", "--exclude", "corp.txt", "--quiet"];
  const flags = [...how, "--fail-on", "never"];
  expect(await place.run(...args("alone.csv", ...flags, ...fast))).toMatchObject({ code: 0 });
  const requests = service.total;
  for (let n = 0; n < 3; n++) await worker(...fast);
  const spread = await place.run(...args("spread.csv", ...flags, "--workers", redis.url()));
  expect(spread).toMatchObject({ code: 0, stderr: "" });
  expect(await rowsOf("spread.csv")).toEqual(await rowsOf("alone.csv"));
  expect(service.total).toBe(2 * requests);
  const { statuses, verdicts, requests: made, ...rest } = await place.manifest("alone.csv");
  const { unsupported, exclusions } = rest;
  const counts = { statuses, verdicts, requests: made, unsupported, exclusions };
  expect(await place.manifest("spread.csv")).toMatchObject(counts);
});

test("two runs with the same items ask for each once", async () => {
  const items = 3_000;
  await dump(items);
  for (let n = 0; n < 2; n++) await worker(...fast, "--concurrency", "128");
  const runs = ["a.csv", "b.csv"].map((name) => startEnrich(name, "--quiet"));
  for (const { result } of runs) expect(await result).toMatchObject({ code: 0, stderr: "" });
  expect(await rowsOf("a.csv")).toEqual(await rowsOf("b.csv"));
  expect([...service.asked.values()].filter((times) => times !== 1)).toEqual([]);
  expect(service.total).toBe(items);
});

test("doctor asks through workers, which have the key", async () => {
  const key = { REPUTE_API_KEY: "key-of-the-worker" };
  const working = startRepute(["worker", redis.url(), "--intel-url", service.url], { env: key });
  await working.waitFor("stderr", /answering lookups at 100\/s, 32 at once/);
  const through = ["--intel-url", service.url, "--workers", redis.url()];
  const { code, stdout } = await runRepute(["doctor", "--json", ...through]);
  const { checks } = JSON.parse(stdout) as { checks: { check: string; finding: string }[] };
  const found = (name: string) => checks.find(({ check }) => check === name)?.finding;
  expect([code, found("workers"), found("rate"), found("key")]).toEqual([
    0,
    "1 connected for this service",
    "100/s, all workers together",
    "accepted (from the workers)",
  ]);
  expect(found("queue")).toMatch(/^redis:\/\/127\.0\.0\.1:\d+\/0, 0 lookups waiting or open$/);
});

test("a rate is refused where it would not be heeded, and so is the embedded service", async () => {
  await dump(3);
  const refusing = (words: string) => ({
    code: 2,
    stderr: expect.stringContaining(words) as string,
  });
  const toThem = "give it to them: repute worker redis://HOST/DB --rate";
  expect(await enrich("--rate", "5/s")).toMatchObject(refusing(toThem));
  const local = ["enrich", "in.csv", "-o", "out.csv", "--local", "--workers", redis.url()];
  expect(await place.run(...local)).toMatchObject({ code: 2 });
  const quota = await runRepute(["worker", redis.url(), "--rate", "50/d"]);
  expect(quota).toMatchObject(refusing("set quotas on the runs"));
});

test("a quota is counted by the run, and ends it as ever", async () => {
  await dump(30);
  await worker(...fast);
  const env = { XDG_STATE_HOME: place.at("state") };
  const flags = [...queries(), "--rate", "10/d", "--quiet", "--json"];
  const { code, stdout } = await place.runWith({ env }, ...args("out.csv", ...flags));
  expect([code, JSON.parse(stdout)]).toMatchObject([75, { exit_reason: "quota", resumable: true }]);
  expect(service.total).toBe(10);
});

test("without workers, a run says so, ends after its patience, and is resumed", async () => {
  await dump(20);
  const { code, stdout, stderr } = await enrich("--outage-patience", "2s", "--json");
  expect(stderr).toMatch(
    /no worker is connected to redis:\/\/\S+ for this service \(repute worker/,
  );
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    { exit_reason: "unreachable", resumable: true, error: { code: "workers_away" } },
  ]);
  const resumed = startEnrich("out.csv", "--resume");
  await resumed.waitFor("stderr", /no worker is connected/);
  await worker(...fast);
  expect(await resumed.result).toMatchObject({ code: 0 });
  // The first run has taken its lookups back.
  expect(service.total).toBe(20);
});

test("a refused key ends its worker, and the run, resumable", async () => {
  await dump(20);
  service.refusing = true;
  const working = await worker(...fast);
  const { code, stderr } = await enrich();
  expect([code, stderr]).toEqual([1, expect.stringContaining("Check the key of the workers.")]);
  expect(await working.result).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("401 from the intelligence interface") as string,
  });
  service.refusing = false;
  await worker(...fast);
  expect(await enrich("--resume")).toMatchObject({ code: 0 });
});

test("SIGTERM lets a worker finish what is open, and another one goes on", async () => {
  await dump(400);
  const first = await worker("--rate", "200/s");
  const run = startEnrich("out.csv", "--quiet");
  await until(() => service.total > 50);
  first.child.kill("SIGTERM");
  expect(await first.result).toMatchObject({ code: 0 });
  await worker(...fast);
  expect(await run.result).toMatchObject({ code: 0 });
  expect(service.total).toBe(400);
});

test("a killed run is resumed while its lookups are answered: none is asked again", async () => {
  await dump(400);
  await worker("--rate", "200/s");
  const run = startEnrich("out.csv");
  // Each answer opens another lookup: by now, twice as many have been opened.
  await until(() => service.total > 200);
  run.child.kill("SIGKILL");
  await run.result;
  await until(() => service.total > 210);
  expect(await enrich("--resume")).toMatchObject({ code: 0 });
  expect((await rowsOf("out.csv")).length).toBe(401);
  expect(service.total).toBe(400);
});

test("a run that is stopped takes back what no worker has", async () => {
  await dump(400);
  await worker("--rate", "50/s");
  expect(await enrich("--deadline", "2s")).toMatchObject({ code: 75 });
  const asked = service.total;
  await delay(1_000);
  expect(service.total).toBe(asked);
});

test("the lookups of a worker that is killed or hangs go to another one", async () => {
  await dump(600);
  // More lookups are open after each answer, until both workers have all they take.
  service.onRequest = () => service.total <= 300;
  const [killed, hanging] = [await worker(...fast), await worker(...fast)];
  const run = startEnrich("out.csv", "--quiet");
  await until(() => service.total === 300 + 64);
  killed.child.kill("SIGKILL");
  hanging.child.kill("SIGSTOP");
  service.onRequest = () => true;
  await worker(...fast);
  const start = performance.now();
  expect(await run.result).toMatchObject({ code: 0, stderr: "" });
  expect(performance.now() - start).toBeLessThan(30_000);
  expect(service.total).toBe(600 + 64);
});

/** When workers were given lookups, by the clock of Redis, which no load of this machine delays. */
async function takenAt(): Promise<readonly number[]> {
  const client = redis.client();
  const [stream = ""] = await client.keys("*:events");
  const events = await client.xrange(stream, "-", "+");
  client.disconnect();
  return events.flatMap(([id, [, event]]) => (event === "active" ? Number.parseInt(id, 10) : []));
}

test("the rate of all workers holds, and is that of the latest", async () => {
  await dump(600);
  await worker("--rate", "50/s");
  const second = await worker("--rate", "100/s");
  await second.waitFor("stderr", /of all workers of this service is 100\/s now, was 50\/s/);
  expect(await enrich()).toMatchObject({ code: 0 });
  const times = await takenAt();
  expect(times).toHaveLength(600);
  expect(worstSecond(times)).toBeLessThanOrEqual(110);
  expect(worstSecond(times)).toBeGreaterThan(50);
});

test("Retry-After pauses all workers", async () => {
  await dump(100);
  for (let n = 0; n < 2; n++) await worker("--rate", "200/s");
  let refusedAt: number | null = null;
  const during: number[] = [];
  service.limited = (total) => {
    if (total > 40) refusedAt ??= performance.now();
    const since = performance.now() - (refusedAt ?? Number.NEGATIVE_INFINITY);
    // Requests of both workers were open when the first one was refused.
    if (since > 700 && since < 1_900) during.push(since);
    return since < 2_000 ? "429 Too Many Requests\r\nretry-after: 2" : null;
  };
  expect(await enrich()).toMatchObject({ code: 0 });
  expect([refusedAt === null, during]).toEqual([false, []]);
});

test.each([
  ["a wrong password", { password: "right" }, /WRONGPASS|NOAUTH/],
  ["a replica", { settings: { replicaof: "127.0.0.1 1" } }, /is a replica: name the primary/],
  ["a cluster", { settings: { "cluster-enabled": "yes" } }, /clusters are not supported/],
])("%s is an error of the run and of the worker", async (_, options, said) => {
  const other = await RedisServer.start(options);
  onTestFinished(() => other.stop());
  await dump(3);
  for (const command of [
    args("out.csv", "--workers", other.url()),
    ["worker", other.url(), "--intel-url", service.url],
  ]) {
    const { code, stderr } = await place.run(...command);
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
    expect(stderr).not.toMatch(/bug|script/);
  }
});

test("a worker says once that Redis is away, and answers when it is there", async () => {
  const other = await RedisServer.start();
  onTestFinished(() => other.stop());
  await other.kill();
  const worker = startRepute(["worker", other.url(), "--intel-url", "http://127.0.0.1:9/beta"]);
  await worker.waitFor("stderr", /is away \(.*ECONNREFUSED.*\); waiting for it/);
  await other.startServer();
  await worker.waitFor("stderr", /answering lookups/);
  worker.child.kill("SIGTERM");
  const { code, stderr } = await worker.result;
  expect([code, stderr.match(/is away/g)?.length]).toEqual([0, 1]);
});

test("a run waits for a Redis that is away, and ends after its patience", async () => {
  await dump(20);
  await redis.kill();
  const { code, stderr } = await enrich("--outage-patience", "2s");
  await redis.startServer();
  expect([code, stderr]).toEqual([1, expect.stringMatching(/is away \(.*ECONNREFUSED/)]);
  await worker(...fast);
  expect(await enrich("--resume")).toMatchObject({ code: 0 });
});
