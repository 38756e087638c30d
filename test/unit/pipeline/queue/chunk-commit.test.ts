import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPlan } from "../../../../src/pipeline/chunks/work-plan.js";
import {
  publishCommit,
  storedCommit,
  storeResult,
} from "../../../../src/pipeline/queue/chunk-commit.js";
import type { ChunkCommit } from "../../../../src/pipeline/queue/chunk-queue.js";
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
  expect(await storedCommit(run.work, plan, chunk)).toEqual(commit);
  expect(await storedCommit(run.work, plan, plan.chunks[1]!)).toBeNull();
  await publishCommit(run.work, plan, chunk, commit);
  const published = await storedCommit(run.work, plan, chunk);
  expect(published).toEqual({ ...commit, key: "chunk-00000.json" });
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
  expect(await storedCommit(run.work, plan, chunk)).toBeNull();
  expect(await readdir(folder)).not.toContain("chunk-00000.json");
});

test("a finished attempt whose output is damaged is not found", async () => {
  const { run, plan, chunk, commit, folder } = await finished();
  const name = (await readdir(folder)).find((each) => /^chunk-00000\.[0-9a-f]{8}\.csv$/.test(each));
  await writeFile(join(folder, name!), "damaged");
  expect(commit.rows).toBe(2);
  expect(await storedCommit(run.work, plan, chunk)).toBeNull();
});
