import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import type { RunReputeResult } from "../../../helpers/run-repute.js";
import { objectTests } from "./object-tests.js";

const tests = await objectTests();

const [monday, tuesday, thursday] = [
  "2026-11-23T23:00:00Z",
  "2026-11-24T22:00:00Z",
  "2026-11-26T02:00:00Z",
];

/** Enriches a dump at a time. */
async function at(
  time: string,
  items: readonly string[],
  ...args: readonly string[]
): Promise<RunReputeResult> {
  await writeFile(join(tests.cwd, "dump.csv"), `domain\n${items.join("\n")}\n`);
  const command = ["enrich", "dump.csv", "--local", "--resume", ...args];
  return tests.repute(command, { clock: HurriedClock.at(time) });
}

const itemsOf = (from: number): string[] =>
  Array.from({ length: 20 }, (_, n) => `d${n + from}.example.com`);

/** A key without the identifier of its run. */
function withoutId(name: string): string {
  return name.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID");
}

/** The objects of this test. */
async function keys(): Promise<readonly string[]> {
  const { store, key } = tests;
  return (await store.keys(`${key}/`)).map((name) => withoutId(name.slice(key.length + 1)));
}

test.each([
  [
    "an object",
    "dt={date}/rows.csv",
    (day: string) => [`dt=${day}/rows.csv`, `dt=${day}/rows.csv.manifest.json`],
  ],
  [
    "an object with the identifier of its run",
    "enriched/dt={date}/{run_id}.parquet",
    (day: string) => ["", ".manifest.json"].map((end) => `enriched/dt=${day}/ID.parquet${end}`),
  ],
])("%s is named after the day on which its run began", async (_, name, objects) => {
  const output = ["-o", `s3://lake/${tests.key}/${name}`];
  const early = ["--max-requests", "10"];
  expect(await at(monday, itemsOf(0), ...output, ...early)).toMatchObject({ code: 75 });
  expect(await at(tuesday, itemsOf(0), ...output, "-q")).toMatchObject({ code: 0 });
  expect(await keys()).toEqual(objects("2026-11-23"));
  expect(await readdir(tests.cwd)).toEqual(["dump.csv"]);
  // The dump of the next night is replaced before the run goes on.
  expect(await at(tuesday, itemsOf(2), ...output, ...early)).toMatchObject({
    code: 75,
  });
  const ended = await at(thursday, itemsOf(4), ...output, "--cache-ttl", "4d", "--json");
  const { took_over } = JSON.parse(ended.stdout) as { took_over: number };
  expect([ended.code, took_over]).toEqual([0, 10]);
  const both = ["2026-11-23", "2026-11-26"];
  expect(await keys()).toEqual(both.flatMap(objects));
  expect(await readdir(tests.cwd)).toEqual(["dump.csv"]);
});

test.each(["dt={date}/rows.csv", "enriched/dt={date}/{run_id}.parquet"])(
  "--against previous compares %s with the newest earlier one",
  async (name) => {
    const folder = `s3://lake/${tests.key}`;
    const report = ["--report", `${folder}/{date}.html`, "--against", "previous"];
    const output = ["-o", `${folder}/${name}`, ...report];
    const first = await at(monday, itemsOf(0), ...output);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stderr).toContain(`there is no earlier output of ${folder}/${name}`);
    await at(tuesday, itemsOf(1), ...output);
    expect(await at(thursday, itemsOf(4), ...output)).toMatchObject({ code: 0 });
    const page = (await tests.store.get(`${tests.key}/2026-11-26.html`)).toString();
    expect(page).toMatch(/3 new.*3 gone/s);
    expect(withoutId(page)).toContain(
      `${folder}/${name.replace("{date}", "2026-11-24").replace("{run_id}", "ID")}`,
    );
  },
);
