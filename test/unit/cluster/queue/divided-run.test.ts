import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localWork } from "../../../../src/cluster/chunks/work-folder.js";
import {
  clearWork,
  dividedRun,
  findWork,
  markFinished,
  planOf,
} from "../../../../src/cluster/queue/divided-run.js";
import type { Manifest } from "../../../../src/core/manifest/manifest.js";
import type { EnrichJob } from "../../../../src/run/types.js";
import { jobHere } from "../../../helpers/job-here.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

type Settings = Readonly<Record<string, unknown>>;

/** A job over an input of three rows in this folder. */
async function jobIn(folder: string, settings: Settings): Promise<EnrichJob> {
  const path = join(folder, "in.csv");
  await writeFile(path, "ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n");
  return jobHere({ settings, input: { path } });
}

test("workers write files and tables, no streams and no data sets", async () => {
  const folder = await temporaryFolder();
  for (const output of ["-", `${folder}/set/`]) {
    const to = output.endsWith("/") ? "csv" : undefined;
    const refused = dividedRun(await jobIn(folder, { output, to }));
    await expect(refused).rejects.toMatchObject({ code: "workers_need_file" });
  }
  for (const [flag, settings] of Object.entries({
    "--raw": { output: join(folder, "out.csv"), raw: true },
  })) {
    const refused = dividedRun(await jobIn(folder, settings));
    await expect(refused).rejects.toMatchObject({
      code: "chunk_option",
      message: `${flag} does not go with --workers`,
    });
  }
});

test("workers read one text input, and do not replace it", async () => {
  const folder = await temporaryFolder();
  const job = await jobIn(folder, { output: join(folder, "out.csv") });
  const table = { path: `duckdb:${join(folder, "db")}?table=t` };
  for (const input of [{ inputs: [] }, table]) {
    const refused = dividedRun({ ...job, input });
    await expect(refused).rejects.toMatchObject({ code: "workers_need_file" });
  }
  const same = dividedRun(await jobIn(folder, { output: join(folder, "in.csv") }));
  await expect(same).rejects.toThrow("would overwrite the input");
});

test("a plan is used again by the same run only", async () => {
  const folder = await temporaryFolder();
  const work = localWork(join(folder, "work"));
  const planned = async (settings: Settings = {}) => {
    const output = join(folder, "out.csv");
    const run = await dividedRun(await jobIn(folder, { output, resume: true, ...settings }));
    return planOf(run, work, 2);
  };
  const plan = await planned();
  expect(plan.chunks.map(({ rows }) => rows)).toEqual([2, 1]);
  expect(await planned()).toEqual(plan);
  await expect(planned({ prefix: "x_" })).rejects.toMatchObject({ code: "resume_differs" });
});

/** A run over an input that is in its work folder. */
async function runIn(folder: string, settings: Settings = {}) {
  await mkdir(join(folder, "work"), { recursive: true });
  const path = join(folder, "work/input.csv");
  await writeFile(path, "ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n");
  const warnings: string[] = [];
  const output = join(folder, "out.csv");
  const job = jobHere({ settings: { output, ...settings }, input: { path } });
  const onWarning = (message: string) => void warnings.push(message);
  return { run: await dividedRun({ ...job, onWarning }), warnings };
}

const manifest = { run_id: "the earlier run" } as Manifest;

test("a finished run is found again, unless command or input have changed", async () => {
  const folder = await temporaryFolder();
  const work = localWork(join(folder, "work"));
  const { run: first } = await runIn(folder);
  await markFinished(work, await planOf(first, work, 2), manifest);
  await clearWork(work, first.job);
  expect((await readdir(work.name)).toSorted()).toEqual(["finished.json", "input.csv"]);

  await expect(findWork(work, first)).rejects.toMatchObject({ code: "state_exists" });
  const { run, warnings } = await runIn(folder, { resume: true });
  expect(await findWork(work, run)).toEqual(manifest);
  expect(warnings).toEqual([]);

  const other = await runIn(folder, { resume: true, prefix: "x_" });
  expect(await findWork(work, other.run)).toBeNull();
  expect(other.warnings).toEqual([expect.stringContaining("so a new run starts now")]);
  expect(await readdir(work.name)).toEqual(["input.csv"]);
});

test("a mark that is damaged is reported, and discarded by a restart", async () => {
  const folder = await temporaryFolder();
  const work = localWork(join(folder, "work"));
  const { run } = await runIn(folder, { resume: true });
  await writeFile(join(work.name, "finished.json"), "{");
  await expect(findWork(work, run)).rejects.toMatchObject({ code: "work_unreadable" });
  expect(await findWork(work, (await runIn(folder, { restart: true })).run)).toBeNull();
  expect(await readdir(work.name)).toEqual(["input.csv"]);
});

test("a resume removes what a restart that was killed has left, and no other file", async () => {
  const folder = await temporaryFolder();
  const work = localWork(join(folder, "work"));
  const { run } = await runIn(folder, { resume: true });
  const left = ["chunk-00001.json", "run.json", "input.tsv"];
  for (const name of [...left, "notes.txt"]) await writeFile(join(work.name, name), "");
  expect(await findWork(work, run)).toBeNull();
  expect((await readdir(work.name)).toSorted()).toEqual(["input.csv", "notes.txt"]);
});
