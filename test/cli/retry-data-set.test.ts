import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import type { Manifest } from "../../src/core/manifest/manifest.js";
import { queriedServer } from "../helpers/queried-server.js";
import { withoutId } from "../helpers/part-name.js";
import { runRepute } from "../helpers/run-repute.js";
import { copiedFolder } from "../helpers/temporary-folder.js";

const asking = queriedServer();

const sets = {
  parquet: copiedFolder((cwd) => enrichInto(cwd, "parquet")),
  csv: copiedFolder((cwd) => enrichInto(cwd, "csv")),
  ndjson: copiedFolder((cwd) => enrichInto(cwd, "ndjson", "--gzip")),
};

/** Writes `set/` of 50 rows in files of 10; rows 11 and 12 failed, and so did the last one. */
async function enrichInto(cwd: string, ...to: readonly string[]): Promise<void> {
  const lines = Array.from({ length: 50 }, (_, n) => `${n + 1},host-${n + 1}.example.com\n`);
  await writeFile(join(cwd, "in.csv"), `n,item\n${lines.join("")}`);
  for (const n of [11, 12, 50]) asking.server.absent.add(`host-${n}.example.com`);
  const first = ["enrich", "in.csv", "-o", "set/", "--rows-per-file", "10", "--retries", "0"];
  expect(await asking.runIn(cwd, [...first, "--to", ...to])).toMatchObject({ code: 3 });
  asking.server.absent.clear();
}

async function prepared(to: keyof typeof sets) {
  const cwd = await sets[to]();
  onTestFinished(() => asking.server.absent.clear());
  return { cwd, run: (...args: readonly string[]) => asking.runIn(cwd, args) };
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "_manifest.json"), "utf8")) as Manifest;
}

async function contents(folder: string): Promise<ReadonlyMap<string, string>> {
  const { parts = [] } = (await manifestIn(folder)).output;
  const read = parts.map(async ({ name }) => {
    return [name, (await readFile(join(folder, name))).toString("latin1")] as const;
  });
  return new Map(await Promise.all(read));
}

describe.each([
  ["parquet", "parquet"],
  ["csv", "csv"],
  ["ndjson", "ndjson.gz"],
] as const)("retry of a data set of %s", (to, extension) => {
  it("writes the files again in which rows improve, and keeps the others", async () => {
    const { cwd, run } = await prepared(to);
    const set = join(cwd, "set");
    const [before, earlier, asked] = [
      await manifestIn(set),
      await contents(set),
      asking.server.total,
    ];
    const retried = await run("retry", "set", "--json");
    expect([retried.code, retried.stderr]).toEqual([0, expect.not.stringContaining("warning")]);
    expect(asking.server.total - asked).toBe(3);
    const after = await manifestIn(set);
    expect(after).toMatchObject({
      run_id: before.run_id,
      statuses: { complete: 50, failed: 0 },
      retried: { failed: { complete: 3 } },
      output: { path: "set/", format: to, rows: 50 },
    });
    const names = after.output.parts?.map(({ name }) => name) ?? [];
    const plain = [0, 1, 2, 3, 4].map((n) => `part-0000${n}-ID.${extension}`);
    expect(names.map(withoutId)).toEqual(plain);
    // Readers may still use the files that are replaced.
    for (const n of [1, 4]) expect(earlier.has(names[n]!)).toBe(false);
    const now = await contents(set);
    for (const n of [0, 2, 3]) expect(now.get(names[n]!)).toBe(earlier.get(names[n]!));
    expect((await readdir(set)).sort()).toEqual(["_manifest.json", ...names].sort());
    expect((await readdir(cwd)).sort()).toEqual(["in.csv", "set"]);
    expect(await runRepute(["verify", set])).toMatchObject({ code: 0 });
    const again = await run("retry", "set/");
    expect(again).toMatchObject({ code: 0 });
    expect(asking.server.total - asked).toBe(3);
    expect(await contents(set)).toEqual(now);
  });
});

test.each(["parquet", "csv"] as const)("an interrupted retry of %s continues", async (to) => {
  const { cwd, run } = await prepared(to);
  const set = join(cwd, "set");
  const [earlier, asked] = [await contents(set), asking.server.total];
  expect(await run("retry", "set", "--max-requests", "1")).toMatchObject({ code: 75 });
  expect(await contents(set)).toEqual(earlier);
  expect(await run("retry", "set")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--resume"),
  });
  expect(await run("retry", "set", "--resume")).toMatchObject({ code: 0 });
  expect(asking.server.total - asked).toBe(3);
  expect((await manifestIn(set)).statuses.complete).toBe(50);
  expect((await readdir(cwd)).sort()).toEqual(["in.csv", "set"]);
});

it("refuses other formats, shapes, and damaged data sets", async () => {
  const { cwd, run } = await prepared("csv");
  expect(
    await runRepute(["enrich", "in.csv", "-o", "bulk/", "--to", "es-bulk", "--local"], { cwd }),
  ).toMatchObject({ code: 0 });
  await mkdir(join(cwd, "none"));
  await writeFile(join(cwd, "none", "a.csv"), "a\n");
  const cases = [
    [["set", "-o", "again.csv"], "name another folder"],
    [["set", "--to", "parquet"], "set/ is a data set of csv"],
    [["bulk"], "retry neither reads nor writes"],
    [["none/"], "there is no none/_manifest.json"],
  ] as const;
  for (const [args, said] of cases) {
    const { code, stderr } = await run("retry", ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  }
  const { parts = [] } = (await manifestIn(join(cwd, "set"))).output;
  const part = join(cwd, "set", parts[1]?.name ?? "");
  await writeFile(part, (await readFile(part, "utf8")).slice(0, -40));
  const damaged = await run("retry", "set");
  expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining("its manifest says")]);
  expect((await stat(part)).size).toBeGreaterThan(0);
  expect((await readdir(cwd)).sort()).toEqual(["bulk", "in.csv", "none", "set"]);
});
