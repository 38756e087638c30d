import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import { takeLock } from "../../../../src/core/files/run-lock.js";
import { checkFiles } from "../../../../src/cluster/chunks/chunk-result.js";
import { readPlan } from "../../../../src/cluster/chunks/work-plan.js";
import {
  publishCommit,
  storedResult,
  storeResult,
} from "../../../../src/cluster/queue/chunk-commit.js";
import type { ChunkCommit } from "../../../../src/cluster/queue/chunk-queue.js";
import { type Service, startService } from "../../../../src/service/service.js";
import { ChunkedRun } from "../../../helpers/chunked-run.js";

let service: Service;
beforeAll(async () => void (service = await startService({ synthetic: 1 })));
afterAll(() => service.close());

/** A divided input of which a worker has finished chunk 0, but not committed it. */
async function finished() {
  const settings = { intelUrl: service.intelUrl, resume: true };
  const run = await ChunkedRun.of("in.csv", "ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n", settings);
  await run.split(2);
  const commits: ChunkCommit[] = [];
  await run.enrich(
    0,
    {},
    {
      async commit(result) {
        commits.push(await storeResult(run.work, result));
        return true;
      },
    },
  );
  const plan = await readPlan(run.work);
  return { run, plan, chunk: plan.chunks[0]!, commit: commits[0]!, folder: run.work.name };
}

test("a finished attempt does not count before it is published", async () => {
  const { run, plan, chunk, commit, folder } = await finished();
  expect(commit).toMatchObject({
    key: expect.stringMatching(/^chunk-00000\.[0-9a-f]{8}\.done\.json$/),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    rows: 2,
  });
  await run.enrich(1);
  await expect(run.merge("out.csv")).rejects.toMatchObject({
    code: "chunks_missing",
    message: expect.stringContaining("chunk 0: not done"),
  });
  expect(await publishCommit(run.work, plan, chunk, commit)).toMatchObject({ chunk: 0, rows: 2 });
  expect(await readdir(folder)).toContain("chunk-00000.json");
  expect((await run.merge("out.csv")).output.rows).toBe(3);
});

test("a finished attempt is found again, and nothing is requested", async () => {
  const { run, plan, chunk, commit } = await finished();
  expect(await storedResult(run.work, plan, chunk)).toMatchObject({ commit });
  expect(await storedResult(run.work, plan, plan.chunks[1]!)).toBeNull();
  await publishCommit(run.work, plan, chunk, commit);
  const published = await storedResult(run.work, plan, chunk);
  expect(published?.commit).toEqual({ ...commit, key: "chunk-00000.json" });
});

test("a commit that is not what the worker returned is not published", async () => {
  const { run, plan, chunk, commit, folder } = await finished();
  const wrong = [
    { ...commit, key: "chunk-00000.00000000.done.json" },
    { ...commit, sha256: "0".repeat(64) },
    { ...commit, rows: 3 },
  ];
  for (const each of wrong) expect(await publishCommit(run.work, plan, chunk, each)).toBeNull();
  const path = join(folder, commit.key);
  await writeFile(path, (await readFile(path, "utf8")).replace('"rows":2', '"rows":1'));
  expect(await publishCommit(run.work, plan, chunk, commit)).toBeNull();
  expect(await storedResult(run.work, plan, chunk)).toBeNull();
  expect(await readdir(folder)).not.toContain("chunk-00000.json");
});

test("a finished attempt whose output is damaged is not found", async () => {
  const { run, plan, chunk, commit, folder } = await finished();
  const name = (await readdir(folder)).find((each) => /^chunk-00000\.[0-9a-f]{8}\.csv$/.test(each));
  await writeFile(join(folder, name!), "damaged");
  expect(commit.rows).toBe(2);
  expect(await storedResult(run.work, plan, chunk)).toBeNull();
});

test("an attempt that is completed while another worker waits for it is not done again", async () => {
  const { run, plan, chunk, commit, folder } = await finished();
  const requests = (): number =>
    Object.values(service.stats().requests).reduce((sum, { total }) => sum + total, 0);
  const before = requests();
  const [, attempt = ""] = commit.key.split(".");
  // The first worker is about to remove the state of its attempt.
  const state = join(folder, `chunk-00000.${attempt}.csv.state`);
  await mkdir(state);
  const unlock = await takeLock(join(state, "lock"));
  const finishing = async (): Promise<void> => {
    await unlock();
    await rm(state, { recursive: true });
  };
  const waiting = run.enrich(
    0,
    {},
    {
      patienceMs: 10_000,
      clock: { ...systemClock, sleep: () => finishing().catch(() => undefined) },
      finished: async () => (await storedResult(run.work, plan, chunk))?.result ?? null,
    },
  );
  expect(await waiting).toMatchObject({ wasDone: true, result: { rows: 2 } });
  expect(requests()).toBe(before);
  expect(await checkFiles(run.work, (await waiting).result)).toBeNull();
});
