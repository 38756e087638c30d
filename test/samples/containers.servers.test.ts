import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { RedisServer } from "../helpers/redis-server.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { commandOf, type Manifest, podOf, readYaml } from "./containers.js";
import { runningService } from "../service/running-service.js";

async function kubernetes() {
  const commandIn = async (name: string) => {
    // The line for workers counts.
    const read = await readYaml(name, (text) => text.replace("# - --workers", "- --workers"));
    return commandOf((read as readonly Manifest[]).find((each) => podOf(each) !== null)!);
  };
  const [worker, cron] = [await commandIn("kubernetes/workers.yaml"), "kubernetes/cronjob.yaml"];
  const enrich = (await commandIn(cron)).filter(
    (word) => !/^--(?:api-key-file|deadline)/.test(word),
  );
  return { worker, enrich };
}

// The fields that the sample uses, as in the Compose specification.
const program = z.strictObject({
  image: z.string(),
  build: z.literal("../.."),
  user: z.string(),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal("ALL")]),
  security_opt: z.tuple([z.literal("no-new-privileges:true")]),
  tmpfs: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  secrets: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  command: z.array(z.string()),
  depends_on: z.array(z.string()),
  profiles: z.array(z.string()).optional(),
  restart: z.literal("unless-stopped").optional(),
  deploy: z.strictObject({ replicas: z.literal(2) }).optional(),
  stop_grace_period: z.string(),
});
const composeFile = z.strictObject({
  name: z.string(),
  "x-repute": z.looseObject({}),
  services: z.strictObject({
    redis: z.strictObject({
      image: z.string(),
      command: z.array(z.string()),
    }),
    worker: program,
    enrich: program,
  }),
  secrets: z.strictObject({ key: z.strictObject({ file: z.string() }) }),
  volumes: z.strictObject({ state: z.null() }),
});

async function compose() {
  const [read] = await readYaml("compose/compose.yaml");
  const { services } = composeFile.parse(read);
  return { worker: services.worker.command, enrich: services.enrich.command };
}

test.each([
  ["kubernetes/workers.yaml", kubernetes, "nights.csv"],
  ["compose/compose.yaml", compose, "enriched.csv"],
])(
  "the commands of %s enrich a dump, with the key in the hands of the workers",
  async (_, read, output) => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.stop());
    const service = await runningService({ apiKey: "key-of-the-workers" });
    const folder = await temporaryFolder();
    const data = join(folder, "data");
    await mkdir(data);
    await writeFile(join(folder, "key"), "key-of-the-workers\n", { mode: 0o600 });
    await writeFile(join(data, "dump.csv"), "ip\n192.0.2.1\n198.51.100.77\n");
    const placed = (command: readonly string[]) =>
      command.map((word) =>
        word
          .replace(/redis:\/\/[\w.]+\/0/, redis.url())
          .replace(/\/run\/secrets\/.*/, join(folder, "key"))
          .replace(/(?<=^|=)\/var\/lib\/repute\//, `${folder}/`)
          .replace(/(?<=^|=)\/data\//, `${data}/`),
      );
    const { worker, enrich } = await read();
    const env = { REPUTE_INTEL_URL: service.intelUrl, REPUTE_PARTIAL_RETRIES: "0", HOME: folder };
    const working = startRepute(placed(worker), { env, cwd: folder });
    onTestFinished(() => void working.child.kill("SIGKILL"));
    const ended = await runRepute(placed(enrich), { env, cwd: data, ownProcess: true });
    expect(ended.code, ended.stderr).toBe(0);
    const rows = (await readFile(join(data, output), "utf8")).trim().split("\n");
    expect(rows).toHaveLength(3);
    expect(rows[1]).toContain("malicious");
    working.child.kill("SIGTERM");
    expect(await working.result).toMatchObject({ code: 0 });
  },
);
