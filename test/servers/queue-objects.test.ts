import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { InterruptedError } from "../../src/core/errors.js";
import { serveQueue } from "../../src/cluster/queue/serve-queue.js";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { comparable } from "../helpers/chunked-run.js";
import { RedisServer } from "../helpers/redis-server.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { startObjectStore } from "./object-store.js";

afterEach(() => vi.unstubAllEnvs());

test("workers share a work folder in object storage, and nothing is left in it", async () => {
  const store = await startObjectStore();
  onTestFinished(() => store.close());
  for (const [name, value] of Object.entries(store.env)) vi.stubEnv(name, value);
  const redis = await RedisServer.start({});
  onTestFinished(() => redis.stop());
  const service = await startAnsweringServer();
  onTestFinished(() => service.close());
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: 120 }, (_, n) => `${n},item-${n}.example.com`);
  await writeFile(join(cwd, "in.csv"), `id,domain\n${rows.join("\n")}\n`);
  const stop = new AbortController();
  const worker = serveQueue({
    queue: redis.url(),
    intelUrl: service.url,
    apiKey: null,
    lockMs: 30_000,
    stateFolder: null,
    environment: store.env,
    signal: stop.signal,
    onWarning: () => undefined,
    onNotice: () => undefined,
  });
  onTestFinished(async () => {
    stop.abort(new InterruptedError("SIGTERM"));
    await worker;
  });
  const common = ["enrich", "in.csv", "--intel-url", service.url, "--lookups", "query", "--quiet"];
  const repute = (...args: readonly string[]) =>
    runRepute([...common, ...args], { cwd, env: store.env });
  const spread = ["--workers", redis.url(), "--work", "s3://lake/queue/work"];
  const out = ["-o", "s3://lake/queue/out.csv", "--rows-per-chunk", "50", "--rate", "1000/s"];
  expect(await repute(...spread, ...out)).toMatchObject({ code: 0, stderr: "" });
  expect(service.total).toBe(120);
  expect(await store.keys("queue/")).toEqual(["queue/out.csv", "queue/out.csv.manifest.json"]);
  const single = ["-o", "s3://lake/single.csv", "--rate", "10000/s"];
  expect(await repute(...single)).toMatchObject({ code: 0, stderr: "" });
  const rowsOf = async (key: string) => comparable((await store.get(key)).toString());
  expect(await rowsOf("queue/out.csv")).toEqual(await rowsOf("single.csv"));
  expect((await readdir(cwd)).toSorted()).toEqual(["in.csv"]);
});
