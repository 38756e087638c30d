import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/service/service.js";
import { queryDuckdb } from "../contract/warehouse-readers.js";
import { ChunkedRun } from "../helpers/chunked-run.js";
import { runCopied } from "../helpers/crash-copies.js";
import { runRepute } from "../helpers/run-repute.js";

const csv = `ip,note\n${Array.from({ length: 10 }, (_, n) => `192.0.2.${n},"note\n${n}"\n`).join("")}no item,\n`;

const bytesOf =
  (...names: readonly string[]) =>
  (folder: string) =>
    Promise.all(names.map((name) => readFile(join(folder, name), "base64")));

/** All but when a row was published. */
const cells = "SELECT * EXCLUDE (rep_loaded_at)";

/** What is merged, and how to read the whole result. A table is published like that of any run. */
const merges = [
  [
    "compressed CSV",
    ["-o", "out.csv.gz", "--rejects", "left.csv"],
    bytesOf("out.csv.gz", "left.csv"),
  ],
  [
    "Parquet",
    ["-o", "out.parquet"],
    (folder: string) => queryDuckdb(`${cells} FROM '${join(folder, "out.parquet")}' ORDER BY ALL`),
  ],
] as const;

test.each(merges)("a merge into %s that is killed may be repeated", async (kind, flags, read) => {
  const service = await startService({ synthetic: 1 });
  onTestFinished(() => service.close());
  const run = await ChunkedRun.of("in.csv", csv, { intelUrl: service.intelUrl });
  await run.split(4, kind.includes("CSV") ? undefined : "parquet");
  await run.enrichAll();
  const work = await run.work.list();
  const folder = join(run.folder, "out");
  await mkdir(folder);
  const args = ["merge", "../work", ...flags, "--quiet"];
  const resultOf = async (code: number | null, stderr = "") => {
    const files = (await readdir(folder)).toSorted();
    const manifest = files.find((name) => name.endsWith("manifest.json")) ?? "";
    const {
      command: _command,
      ended_at: _end,
      output,
      ...record
    } = JSON.parse(await readFile(join(folder, manifest), "utf8")) as Record<string, unknown>;
    // The bytes of a Parquet file have the time in them.
    const { bytes: _bytes, sha256: _sum, ...written } = output as Record<string, unknown>;
    return { code, stderr, files, record, written, rows: await read(folder) };
  };
  const { code, copies } = await runCopied(args, folder);
  const expected = await resultOf(code);
  expect(expected).toMatchObject({ code: 0, written: { rows: 11 } });
  expect(copies.length).toBeGreaterThan(10);
  const faults: unknown[] = [];
  // The last one is complete.
  for (const [point, copy] of [...copies, folder].entries()) {
    if (copy !== folder) {
      await rm(folder, { recursive: true });
      await rename(copy, folder);
    }
    const { code, stderr } = await runRepute(args, { cwd: folder });
    const found = await resultOf(code, stderr).catch((error: unknown) => ({ code, stderr, error }));
    try {
      expect(found).toEqual(expected);
    } catch {
      faults.push({ point, ...found });
    }
  }
  expect(faults).toEqual([]);
  expect(await run.work.list()).toEqual(work);
});
