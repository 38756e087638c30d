import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { FatalError, InterruptedError } from "../../src/core/errors.js";
import { ChunkQueue, openQueue, openQueueLink } from "../../src/cluster/queue/chunk-queue.js";
import { serveQueue } from "../../src/cluster/queue/serve-queue.js";
import { type AnsweringServer, startAnsweringServer } from "../helpers/answering-server.js";
import { runCopied } from "../helpers/crash-copies.js";
import { RedisServer } from "../helpers/redis-server.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const items = 60;
const chunks = 3;

let redis: RedisServer;
let service: AnsweringServer;
let parent: string;
let folder: string;

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis?.stop());

beforeEach(async () => {
  await redis.command("FLUSHALL");
  service = await startAnsweringServer();
  onTestFinished(() => service.close());
  parent = await temporaryFolder();
  folder = join(parent, "run");
  await mkdir(folder);
  const rows = Array.from({ length: items }, (_, n) => `${n},item-${n}.example.com`);
  await writeFile(join(folder, "in.csv"), `id,domain\n${rows.join("\n")}\n`);
});

function enrich(...flags: readonly string[]): string[] {
  const work = flags.includes("--work") ? [] : ["--work", join(folder, "work")];
  const output = flags.includes("-o") ? [] : ["-o", "out.csv"];
  const spread = ["--workers", redis.url(), "--rows-per-chunk", String(items / chunks)];
  const asked = ["--intel-url", service.url, "--lookups", "query"];
  return ["enrich", "in.csv", ...output, ...spread, ...work, ...asked, ...flags];
}

/** A worker in this process. It throws when it is stopped if it has ended before. */
function workHere() {
  const stop = new AbortController();
  const messages: string[] = [];
  const ended = serveQueue({
    queue: redis.url(),
    intelUrl: service.url,
    apiKey: null,
    lockMs: 30_000,
    stateFolder: null,
    environment: {},
    signal: stop.signal,
    onWarning: (message) => void messages.push(message),
    onNotice: () => undefined,
  });
  ended.catch(() => undefined);
  const end = async (): Promise<void> => {
    stop.abort(new InterruptedError("SIGTERM"));
    await ended;
  };
  onTestFinished(() => end().catch(() => undefined));
  return { stop: end, messages };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

test("a run that is killed while it merges or empties its work folder is completed without a request", async () => {
  const worker = workHere();
  service.partial.add("item-7.example.com");
  const flags = ["--fail-on", "partial", "--partial-retries", "0", "--quiet"];
  const { code, copies } = await runCopied(enrich(...flags), folder);
  expect(code).toBe(3);
  const [asked, rows] = [service.total, await readFile(join(folder, "out.csv"), "utf8")];
  expect(await readdir(join(folder, "work"))).toEqual([]);
  const files = (await readdir(folder)).toSorted();
  const faults: unknown[] = [];
  let [merging, cleaning] = [0, 0];
  for (const [point, copy] of copies.entries()) {
    if (existsSync(join(copy, "out.csv.manifest.json"))) cleaning++;
    else if (!existsSync(join(copy, `work/chunk-0000${chunks - 1}.json`))) continue;
    else merging++;
    await rm(folder, { recursive: true });
    await rename(copy, folder);
    const { code, stderr } = await runRepute(enrich(...flags, "--resume"), { cwd: folder });
    const found = {
      point,
      code,
      stderr,
      asked: service.total,
      work: await readdir(join(folder, "work")),
      files: (await readdir(folder)).toSorted(),
      rows: (await readFile(join(folder, "out.csv"), "utf8")) === rows,
    };
    const wanted = { point, code: 3, stderr, asked, work: [], files, rows: true };
    if (JSON.stringify(found) !== JSON.stringify(wanted)) faults.push(found);
  }
  expect(faults).toEqual([]);
  expect([merging > 5, cleaning > 3 * chunks]).toEqual([true, true]);
  await worker.stop();
});

test("the work folder of a run in progress is not taken, whatever the flags", async () => {
  const worker = workHere();
  const run = startRepute(enrich("--rate", "20/s"), { cwd: folder });
  const published = join(folder, "work/chunk-00000.json");
  await until(() => existsSync(published));
  await worker.stop();
  await symlink(join(folder, "work"), join(folder, "alias"));
  const before = await readFile(published, "utf8");
  const attempts = [["--restart"], [], ["--resume"], ["--restart", "--work", "alias"]];
  const others = attempts.map((flags) =>
    runRepute(enrich(...flags, "-o", "other.csv"), { cwd: folder, ownProcess: true }),
  );
  for (const { code, stderr } of await Promise.all(others)) {
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`process ${run.child.pid} on ${hostname()}, since 20`),
    ]);
    expect(stderr).not.toMatch(/--re(?:start|sume)/);
  }
  expect(await readFile(published, "utf8")).toBe(before);
  workHere();
  expect(await run.result).toMatchObject({ code: 0 });
  expect(service.total).toBe(items);
});

test("a restart after a kill discards the run, and its worker does the new one", async () => {
  const worker = workHere();
  const killed = startRepute(enrich("--rate", "20/s"), { cwd: folder });
  await until(() => service.total > 25);
  killed.child.kill("SIGKILL");
  const again = await runRepute(enrich("--restart", "--rate", "1000/s"), { cwd: folder });
  expect(again).toMatchObject({ code: 0 });
  expect(await readdir(join(folder, "work"))).toEqual([]);
  await worker.stop();
  expect(worker.messages).toEqual([]);
});

test.each([
  ["work folder", "while a worker does it", "work", true, /1 work does not hold the run/],
  ["work folder", "before a worker does it", "work", false, /1 work does not hold the run/],
  ["input", "before a worker does it", "in.csv", false, /1 .*in\.csv/],
])("a run whose %s vanishes %s ends; its worker does other runs", async (...args) => {
  const [, , name, isBegun, message] = args;
  const worker = isBegun ? workHere() : null;
  const lost = startRepute(enrich("--rate", "20/s"), { cwd: folder });
  const begun = () => (isBegun ? service.total > 5 : existsSync(join(folder, "work/run.json")));
  await until(begun);
  await rename(join(folder, name), join(parent, "away"));
  const late = worker ?? workHere();
  const { code, stderr } = await lost.result;
  const [, said = ""] = /worker \d+ on \S+: (.*)/.exec(stderr) ?? [];
  expect(`${code} ${said.replaceAll(`${folder}/`, "")}`).toMatch(message);
  expect(stderr).toContain("--resume");
  await rename(join(parent, "away"), join(folder, name));
  // The run itself goes on once it is back, and others at any time.
  for (const flags of [["--resume"], ["--work", join(folder, "other"), "-o", "other.csv"]]) {
    expect(await runRepute(enrich(...flags), { cwd: folder })).toMatchObject({ code: 0 });
  }
  await late.stop();
});

test("a fault that a worker reports late does not end the resumed run", async () => {
  const killed = startRepute(enrich(), { cwd: folder });
  await until(() => existsSync(join(folder, "work/run.json")));
  killed.child.kill("SIGKILL");
  await killed.result;
  await redis.command("FLUSHALL");
  const plan = JSON.parse(await readFile(join(folder, "work/plan.json"), "utf8"));
  const link = await openQueueLink(redis.url(), { environment: {}, onWarning: () => undefined });
  onTestFinished(() => link.close());
  const all = await openQueue(link);
  const queue = new ChunkQueue(link, all, plan.plan_id);
  const resumed = startRepute(enrich("--resume"), { cwd: folder });
  while ((await all.getJobCountByTypes("prioritized")) === 0) await delay(5);
  await queue.fail(
    new FatalError("input_not_found", "the folder was not mounted"),
    "an earlier one",
  );
  const worker = workHere();
  expect(await resumed.result).toMatchObject({ code: 0 });
  await worker.stop();
});

test("workers ask for nothing that the run's exclusion list names", async () => {
  const worker = workHere();
  await writeFile(join(folder, "corp.txt"), "item-7.example.com\nitem-31.example.com\n");
  const flags = ["--exclude", "corp.txt", "--quiet"];
  const { code, stderr } = await runRepute(enrich(...flags), { cwd: folder });
  expect([code, stderr]).toEqual([0, ""]);
  expect(service.total).toBe(items - 2);
  expect([...service.asked.keys()].filter((key) => /item-(?:7|31)\./.test(key))).toEqual([]);
  const manifest = await readFile(join(folder, "out.csv.manifest.json"), "utf8");
  expect(JSON.parse(manifest)).toMatchObject({
    unsupported: { excluded: 2 },
    exclusions: [{ path: join(folder, "corp.txt"), entries: 2, rows: 2 }],
  });
  await worker.stop();
});
