import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../docs/pages.js";
import { machineWithDump, readNights } from "./nights.js";
import { runningService } from "../service/running-service.js";

const run = promisify(execFile);

const service = await runningService();

/** Stands for Dagster: keeps what an asset returns, and runs nothing by itself. */
const dagster = `
class RetryPolicy:
    def __init__(self, max_retries, delay): pass
class MaterializeResult:
    def __init__(self, metadata): self.metadata = metadata
class Failure(Exception):
    def __init__(self, description, allow_retries): self.args = (description, allow_retries)
class ScheduleDefinition:
    def __init__(self, name, target, cron_schedule): self.target = target
class Definitions:
    def __init__(self, assets, schedules): self.assets = assets
def asset(retry_policy):
    return lambda function: function
`;

const script = `
import json, runpy, sys
import dagster
defined = runpy.run_path(sys.argv[1])
try:
    print(json.dumps(defined["defs"].assets[0]().metadata))
except dagster.Failure as failure:
    print(json.dumps(failure.args))
`;

test("the asset of Dagster tells its counts, or why it failed and whether a retry helps", async () => {
  const machine = await machineWithDump(service.intelUrl);
  const dump = join(machine.folder, "var/lib/repute");
  const bin = join(machine.folder, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "dagster.py"), dagster);
  await writeFile(join(dump, "key"), "sample-key\n", { mode: 0o600 });
  const program = join(root, "dist", "program", "repute.js");
  await writeFile(join(bin, "repute"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(join(bin, "repute"), 0o755);
  const sample = await readNights("dagster_repute.py");
  const placed = sample
    .replace('"/var/lib/repute"', JSON.stringify(dump))
    .replace("https://intel.example/beta", service.intelUrl);
  const path = join(machine.folder, "dagster_repute.py");
  await writeFile(path, placed);
  const materialized = async (variables: Readonly<Record<string, string>>): Promise<unknown> => {
    const env = {
      ...process.env,
      ...variables,
      // Partial answers are asked for again after a while, which takes real time.
      REPUTE_PARTIAL_RETRIES: "0",
      PATH: `${bin}${delimiter}${process.env["PATH"]}`,
      PYTHONPATH: bin,
      PYTHONDONTWRITEBYTECODE: "1",
    };
    return JSON.parse((await run("python3", ["-c", script, path], { env })).stdout);
  };
  expect(await materialized({ REPUTE_MAX_REQUESTS: "3" })).toEqual(["budget", true]);
  expect(await materialized({ REPUTE_LOOKUPS: "none" })).toEqual(["usage", false]);
  expect(await materialized({})).toMatchObject({ rows: 24, malicious: 8, failed: 0 });
  const outputs = (await readdir(dump)).filter((name) => /^enriched-[\d-]{10}\.csv$/.test(name));
  expect(outputs).toHaveLength(1);
});
