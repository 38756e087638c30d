import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { InterruptedError } from "../../src/core/errors.js";
import { serveQueue } from "../../src/cluster/queue/serve-queue.js";
import { type AnsweringServer, startAnsweringServer } from "../helpers/answering-server.js";
import { comparable } from "../helpers/chunked-run.js";
import { RedisServer } from "../helpers/redis-server.js";
import { type RunningRepute, runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const env = { REDISCLI_AUTH: "a secret/1", REPUTE_API_KEY: "key-of-the-workers" };

/** How many times a worker is killed, each time at another moment. */
const kills = Number(process.env["REPUTE_TEST_KILLS"] ?? 1);

/** Requests of one worker that may be open, and so be repeated. */
const open = 32;

const items = 400;
const rowsOfChunk = 50;

let redis: RedisServer;
let service: AnsweringServer;
let folder: string;

beforeAll(async () => {
  vi.stubEnv("REDISCLI_AUTH", env.REDISCLI_AUTH);
  redis = await RedisServer.start({ password: env.REDISCLI_AUTH });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await redis?.stop();
});

beforeEach(async ({ onTestFinished }) => {
  await redis.command("FLUSHALL");
  service = await startAnsweringServer();
  folder = await temporaryFolder();
  onTestFinished(() => service.close());
  const rows = Array.from({ length: items }, (_, n) => `${n},item-${n}.example.com`);
  await writeFile(join(folder, "in.csv"), `id,domain\n${rows.join("\n")}\n`);
});

const common = (): string[] => ["--intel-url", service.url, "--lookups", "query"];

function enrich(...flags: readonly string[]): string[] {
  const output = flags.includes("-o") ? [] : ["-o", join(folder, "out.csv")];
  const paths = [join(folder, "in.csv"), ...output];
  const spread = ["--workers", redis.url(), "--work", join(folder, "work")];
  return [
    "enrich",
    ...paths,
    ...spread,
    "--rows-per-chunk",
    String(rowsOfChunk),
    ...common(),
    ...flags,
  ];
}

/** A worker in this process, which starts faster. */
function workHere(): { stop(): Promise<void> } {
  const stop = new AbortController();
  const ended = serveQueue({
    queue: redis.url(),
    intelUrl: service.url,
    apiKey: env.REPUTE_API_KEY,
    lockMs: 30_000,
    stateFolder: null,
    environment: env,
    signal: stop.signal,
    onWarning: () => undefined,
    onNotice: () => undefined,
  });
  const end = async (): Promise<void> => {
    stop.abort(new InterruptedError("SIGTERM"));
    await ended;
  };
  onTestFinished(end);
  return { stop: end };
}

function startWorker(...flags: readonly string[]): RunningRepute {
  return startRepute(["worker", redis.url(), "--intel-url", service.url, ...flags], { env });
}

/** Starts workers of which another one takes over within 4 s. */
function startPair(): readonly [RunningRepute, RunningRepute] {
  return [startWorker("--lock", "2s"), startWorker("--lock", "2s")];
}

/** What a single run writes. */
async function expected(): Promise<readonly unknown[]> {
  const single = join(folder, "single.csv");
  const args = ["enrich", join(folder, "in.csv"), "-o", single, ...common(), "--rate", "10000/s"];
  expect(await runRepute(args, { env })).toMatchObject({ code: 0 });
  return comparable(await readFile(single, "utf8"));
}

/** Checks the output, and that nothing is left. Returns the number of requests. */
async function expectResult(
  { code, stderr }: { code: number | null; stderr: string },
  output = join(folder, "out.csv"),
) {
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const rows = comparable(await readFile(output, "utf8"));
  const total = service.total;
  expect(rows).toEqual(await expected());
  expect(await readdir(join(folder, "work"))).toEqual([]);
  expect(await runRepute(["verify", output])).toMatchObject({ code: 0 });
  return total;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

test("workers yield the rows of a single run, also if Redis loses its data meanwhile", async () => {
  const workers = [workHere(), workHere()];
  const run = runRepute(enrich("--rate", "200/s"), { env });
  await until(() => service.total > 100);
  const secrets = [...(await stored()), await readFile(join(folder, "work/run.json"), "utf8")];
  expect(secrets.join("\n")).not.toMatch(/key-of-the-workers|a secret/);
  await redis.command("FLUSHALL");
  // Both workers leave the chunk in progress, which is continued from its journal.
  expect(await expectResult(await run)).toBeLessThanOrEqual(items + 2 * open);
  for (const worker of workers) await worker.stop();
});

/** Everything in Redis, as text. */
async function stored(): Promise<readonly string[]> {
  const keys = (await redis.command("KEYS", "*")) as string[];
  const dumps = keys.map(async (key) => `${key} ${String(await redis.command("DUMP", key))}`);
  return Promise.all(dumps);
}

test("another worker does the chunk of one that was killed or told to stop", async () => {
  for (let round = 0; round < kills; round++) {
    const before = service.total;
    const [killed, stopped] = startPair();
    const run = startRepute(enrich("--rate", "200/s", "--cache", redis.url(1)), { env });
    await until(() => service.total - before > 30 + Math.random() * 150);
    killed.child.kill("SIGKILL");
    await until(() => service.total - before > 200);
    stopped.child.kill("SIGTERM");
    expect(await stopped.result).toMatchObject({ code: 0 });
    const [heir] = startPair();
    expect((await expectResult(await run.result)) - before).toBeLessThanOrEqual(items + 2 * open);
    heir.child.kill("SIGTERM");
    await redis.command("FLUSHALL");
  }
});

test("a worker that was stopped past its lock commits nothing", async () => {
  const late = startWorker("--lock", "2s");
  const run = startRepute(enrich("--rate", "200/s"), { env });
  await until(() => service.total > 70);
  late.child.kill("SIGSTOP");
  startWorker("--lock", "2s");
  // Its journal cannot be taken over: it may go on writing.
  expect(await expectResult(await run.result)).toBeLessThanOrEqual(items + rowsOfChunk);
  late.child.kill("SIGCONT");
  await late.waitFor("stderr", /its lock was lost, so its output is rejected/);
});

test("a worker that is told to stop hands its chunk back at once", async () => {
  const first = startWorker("--lock", "1h");
  const run = startRepute(enrich("--rate", "200/s"), { env });
  await until(() => service.total > 70);
  first.child.kill("SIGTERM");
  expect(await first.result).toMatchObject({ code: 0 });
  startWorker();
  // Without it, the next worker would wait for the end of the lock.
  expect(await expectResult(await run.result)).toBeLessThanOrEqual(items + open);
});

test("a run continues after Redis was away", async () => {
  for (let n = 0; n < 2; n++) workHere();
  const run = startRepute(enrich("--rate", "200/s"), { env });
  await until(() => service.total > 100);
  await redis.kill();
  await run.waitFor("stderr", /is away .*; the queue waits for it/);
  await delay(1_000);
  await redis.startServer();
  // The locks have not ended meanwhile, so nothing is repeated.
  expect(await expectResult(await run.result)).toBe(items);
});

/** A folder that stands for a machine: where the coordinator works, and keeps its state. */
async function machine(name: string) {
  const cwd = join(folder, name);
  await mkdir(cwd);
  return { cwd, env: { ...env, XDG_STATE_HOME: join(cwd, "state"), HOME: cwd } };
}

test("a run whose coordinator was killed is taken up on another machine", async () => {
  workHere();
  const flags = ["--rate", "200/s", "--concurrency", "2"];
  const [lost, heir] = [await machine("lost"), await machine("heir")];
  const first = startRepute(enrich("-o", "out.csv", ...flags), lost);
  await until(() => service.total > 60);
  first.child.kill("SIGKILL");
  await first.result;
  const without = await runRepute(enrich("-o", "result.csv"), heir);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("--resume")]);
  // The work folder has the whole run: neither output nor state of the first machine is needed.
  expect((await readdir(lost.cwd)).filter((name) => name.startsWith("out.csv"))).toEqual([]);
  await rm(lost.cwd, { recursive: true });
  const resumed = await runRepute(enrich("-o", "result.csv", ...flags, "--resume"), heir);
  // The worker has kept its connections from chunk to chunk.
  expect(service.connections).toBe(2);
  expect(Math.max(...service.asked.values())).toBe(1);
  expect(await expectResult(resumed, join(heir.cwd, "result.csv"))).toBe(items);
  expect((await readdir(heir.cwd)).sort()).toEqual(["result.csv", "result.csv.manifest.json"]);
});

test("an interrupted run leaves the workers idle and is resumed", async () => {
  workHere();
  const stop = new AbortController();
  const first = runRepute(enrich("--rate", "200/s"), { env, signal: stop.signal });
  await until(() => service.total > 60);
  stop.abort(new InterruptedError("SIGINT"));
  const { code, stderr } = await first;
  expect([code, stderr]).toEqual([130, expect.stringContaining("--resume")]);
  const resumed = await runRepute(enrich("--rate", "1000/s", "--resume"), { env });
  expect(await expectResult(resumed)).toBeLessThanOrEqual(items + open);
  const manifest = await readFile(join(folder, "out.csv.manifest.json"), "utf8");
  expect(JSON.parse(manifest)).toMatchObject({ resumed: 1 });
});

test("errors that meet every worker end the run; those of one machine end that worker", async () => {
  const elsewhere = ["worker", redis.url(), "--intel-url", "http://127.0.0.1:9/beta"];
  const other = startRepute(elsewhere, { env });
  const run = runRepute(enrich("--rate", "1000/s"), { env });
  expect(await other.result).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("this worker is for http://127.0.0.1:9/beta"),
  });
  service.refusing = true;
  workHere();
  const { code, stderr } = await run;
  expect([code, stderr]).toEqual([1, expect.stringMatching(/worker \d+ on \S+: .*401/)]);
  expect(existsSync(join(folder, "out.csv"))).toBe(false);
});

test.each([
  [["--local"], /service of --local/],
  [["--max-requests", "5"], /--rate 5000\/d/],
  [["--cache", "redis://:pw@127.0.0.1/1"], /--cache has a password/],
])("%s does not go with workers on other machines", async (flags, message) => {
  const args = enrich(...flags);
  if (flags[0] === "--local") args.splice(args.indexOf("--intel-url"), 2);
  const { code, stderr } = await runRepute(args, { env });
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain(":pw@");
});
