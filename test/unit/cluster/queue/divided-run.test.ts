import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localWork } from "../../../../src/cluster/chunks/work-folder.js";
import { dividedRun, planOf } from "../../../../src/cluster/queue/divided-run.js";
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
    "--only-new": { output: `duckdb:${join(folder, "db")}?table=t`, onlyNew: "7d" },
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
