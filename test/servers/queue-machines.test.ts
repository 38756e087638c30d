import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { comparable } from "../helpers/chunked-run.js";
import { RedisServer } from "../helpers/redis-server.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { startObjectStore } from "./object-store.js";

const items = 300;

test("workers without a common file system share objects, and do the chunk of one that is killed", async () => {
  const service = await startAnsweringServer();
  onTestFinished(() => service.close());
  const store = await startObjectStore();
  onTestFinished(() => store.close());
  const redis = await RedisServer.start();
  onTestFinished(() => redis.stop());
  const { env } = store;
  const folder = await temporaryFolder();
  const rows = Array.from({ length: items }, (_, n) => `item-${n}.example.com`);
  await writeFile(join(folder, "in.csv"), `domain\n${rows.join("\n")}\n`);
  const common = ["--intel-url", service.url, "--lookups", "query"];

  const machine = async (name: string) => {
    const cwd = join(folder, name);
    await mkdir(cwd);
    const args = ["worker", redis.url(), "--intel-url", service.url, "--lock", "2s"];
    return startRepute(args, { env, cwd });
  };
  const killed = await machine("killed");
  const spread = ["--workers", redis.url(), "--work", "s3://lake/work", "--rows-per-chunk", "50"];
  const flags = [...common, ...spread, "--rate", "200/s"];
  const run = runRepute(["enrich", "in.csv", "-o", "s3://lake/out.csv", ...flags], {
    cwd: folder,
    env,
  });
  while (service.total < 70) await delay(5);
  killed.child.kill("SIGKILL");
  const heir = await machine("heir");
  expect(await run).toMatchObject({ code: 0 });
  // Its journal is on the killed machine.
  expect(service.total).toBeLessThanOrEqual(items + 50);
  expect(await store.keys("")).toEqual(["out.csv", "out.csv.manifest.json"]);
  heir.child.kill("SIGTERM");
  expect(await heir.result).toMatchObject({ code: 0 });
  expect(await readdir(join(folder, "heir"))).toEqual([]);

  const single = ["enrich", "in.csv", "-o", "single.csv", ...common, "--rate", "10000/s"];
  expect(await runRepute(single, { cwd: folder })).toMatchObject({ code: 0 });
  const one = await readFile(join(folder, "single.csv"), "utf8");
  expect(comparable((await store.get("out.csv")).toString())).toEqual(comparable(one));
  expect((await readdir(folder)).filter((name) => name.startsWith("repute-s3-"))).toEqual([]);
});
