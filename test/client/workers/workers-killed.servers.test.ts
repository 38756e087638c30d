import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { RedisServer } from "../../helpers/redis-server.js";
import { type RunningRepute, startRepute } from "../../helpers/run-repute.js";
import { seeded } from "../../helpers/seeded.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** WORKER_TRIALS=60 makes as many as the figures in docs/scale.md. */
const trials = Number(process.env["WORKER_TRIALS"] ?? 5);
const items = 240;

const redis = await RedisServer.start();
afterAll(() => redis.stop());

interface Trial {
  readonly workers: RunningRepute[];
  run: RunningRepute;
  readonly start: () => Promise<void>;
  readonly resume: () => void;
}

const blows: Readonly<Record<string, (trial: Trial) => Promise<void>>> = {
  "a worker is killed": async ({ workers, start }) => {
    workers.shift()!.child.kill("SIGKILL");
    await start();
  },
  "the run is killed": async (trial) => {
    trial.run.child.kill("SIGKILL");
    await trial.run.result;
    trial.resume();
  },
  "Redis is emptied": async () => void (await redis.command("FLUSHALL")),
  "Redis is restarted": async () => {
    await redis.kill();
    await delay(200);
    await redis.startServer();
  },
  "Redis hangs": async () => {
    redis.pause(true);
    await delay(2_000);
    redis.pause(false);
  },
};

test.each(Array.from({ length: trials }, (_, n) => n))("trial %i", async (n) => {
  const next = seeded(1_000 + n);
  await redis.command("FLUSHALL");
  const [service, cwd] = await Promise.all([startAnsweringServer(), temporaryFolder()]);
  const rows = Array.from({ length: items }, (_, row) => `h${row}.example.com`);
  await writeFile(join(cwd, "in.csv"), `domain\n${rows.join("\n")}\n`);
  const asked = ["--intel-url", service.url];
  const start = async (): Promise<void> => {
    const working = startRepute(["worker", redis.url(), ...asked, "--rate", "120/s"]);
    trial.workers.push(working);
    await working.waitFor("stderr", /answering/);
  };
  const enrich = (...flags: readonly string[]): RunningRepute => {
    const how = ["--workers", redis.url(), "--lookups", "query", ...flags];
    return startRepute(["enrich", "in.csv", "-o", "out.csv", ...asked, ...how], { cwd });
  };
  const trial: Trial = {
    workers: [],
    run: undefined as unknown as RunningRepute,
    start,
    resume: () => void (trial.run = enrich("--resume")),
  };
  await start();
  await start();
  trial.run = enrich();
  const [name, strike] = Object.entries(blows)[n % Object.keys(blows).length]!;
  // The moment: so many requests were made.
  const moment = 1 + Math.floor(next() * (items - 2));
  while (service.total < moment) await delay(1);
  await strike(trial);
  const ended = await trial.run.result;
  const repeated = service.total - items;
  process.stderr.write(`trial ${n}: ${name} after ${moment}; ${repeated} requests repeated\n`);
  expect(ended.code, `${name} after request ${moment}: ${ended.stderr}`).toBe(0);
  const lines = (await readFile(join(cwd, "out.csv"), "utf8")).trimEnd().split("\n").slice(1);
  expect(lines.map((line) => line.split(",", 1)[0])).toEqual(rows);
  expect(lines.every((line) => line.includes(",complete,"))).toBe(true);
  expect(service.asked.size).toBe(items);
  // What two workers had open, and once more if they had not answered it.
  expect(repeated).toBeLessThanOrEqual(64);
});
