import { type ChildProcess, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { freePort } from "../../helpers/free-port.js";
import { RedisServer } from "../../helpers/redis-server.js";
import { startRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

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

test.each(["dies", "hangs"])("a run and its workers follow a primary that %s", async (how) => {
  const service = await startAnsweringServer();
  const primary = await RedisServer.start();
  onTestFinished(() => primary.stop());
  const replicaof = `127.0.0.1 ${primary.port}`;
  const replica = await RedisServer.start({ settings: { replicaof } });
  onTestFinished(() => replica.stop());
  const queue = await startSentinel(primary);
  const asked = ["--intel-url", service.url];
  for (let n = 0; n < 2; n++) {
    const worker = startRepute(["worker", queue, ...asked, "--rate", "100/s"]);
    await worker.waitFor("stderr", /answering/);
  }
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: items }, (_, n) => `item-${n}.example.com`);
  await writeFile(join(cwd, "in.csv"), `domain\n${rows.join("\n")}\n`);
  const flags = ["--workers", queue, "--lookups", "query", "--quiet"];
  const run = startRepute(["enrich", "in.csv", "-o", "out.csv", ...asked, ...flags], { cwd });
  while (service.total < 100) await delay(5);
  if (how === "dies") await primary.kill();
  else primary.pause(true);
  expect(await run.result).toMatchObject({ code: 0 });
  const lines = (await readFile(join(cwd, "out.csv"), "utf8")).trimEnd().split("\n");
  expect(lines.slice(1).map((line) => line.split(",", 1)[0])).toEqual(rows);
  // What was open, and what the replica had not heard of.
  expect(service.total).toBeLessThanOrEqual(items + 128);
});
