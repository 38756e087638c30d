import { type ChildProcess, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { InterruptedError } from "../../src/core/errors.js";
import { serveQueue } from "../../src/cluster/queue/serve-queue.js";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { freePort } from "../helpers/free-port.js";
import { RedisServer } from "../helpers/redis-server.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const items = 400;

/** A Sentinel that watches one server, and the address that asks it. */
async function startSentinel(primary: RedisServer): Promise<string> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    `sentinel monitor queue 127.0.0.1 ${primary.port} 1`,
    "sentinel down-after-milliseconds queue 1000",
    "sentinel failover-timeout queue 5000",
  ];
  const path = join(folder, "sentinel.conf");
  await writeFile(path, `${lines.join("\n")}\n`);
  const sentinel: ChildProcess = spawn("redis-server", [path, "--sentinel"], { stdio: "ignore" });
  onTestFinished(() => void sentinel.kill("SIGKILL"));
  // It has to know the replica before the primary fails.
  const client = new Redis(port, "127.0.0.1");
  client.on("error", () => undefined);
  for (;;) {
    const known = await client.call("SENTINEL", "replicas", "queue").catch(() => []);
    if ((known as unknown[]).length > 0) break;
    await delay(100);
  }
  client.disconnect();
  return `redis://127.0.0.1:${port}/0?sentinel=queue`;
}

test("a run and its workers follow a failover", async () => {
  const service = await startAnsweringServer();
  onTestFinished(() => service.close());
  const primary = await RedisServer.start();
  onTestFinished(() => primary.stop());
  const replicaof = `127.0.0.1 ${primary.port}`;
  const replica = await RedisServer.start({ settings: { replicaof } });
  onTestFinished(() => replica.stop());
  const queue = await startSentinel(primary);

  const stop = new AbortController();
  const workers = Array.from({ length: 2 }, () =>
    serveQueue({
      queue,
      intelUrl: service.url,
      apiKey: null,
      lockMs: 30_000,
      stateFolder: null,
      environment: {},
      signal: stop.signal,
      onWarning: () => undefined,
      onNotice: () => undefined,
    }),
  );
  const folder = await temporaryFolder();
  const rows = Array.from({ length: items }, (_, n) => `item-${n}.example.com`);
  await writeFile(join(folder, "in.csv"), `domain\n${rows.join("\n")}\n`);
  const spread = ["--workers", queue, "--work", "work", "--rows-per-chunk", "50"];
  const common = ["--intel-url", service.url, "--lookups", "query", "--rate", "200/s"];
  const args = ["enrich", "in.csv", "-o", "out.csv", ...spread, ...common];
  const run = runRepute(args, { cwd: folder });
  while (service.total < 100) await delay(5);
  await primary.kill();
  expect(await run).toMatchObject({ code: 0, stderr: expect.stringContaining("is away") });
  const lines = (await readFile(join(folder, "out.csv"), "utf8")).trimEnd().split("\n");
  expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(rows);
  expect(service.total).toBeLessThanOrEqual(items + 64);
  stop.abort(new InterruptedError("SIGTERM"));
  await Promise.all(workers);
});
