import { copyFile, mkdir, readdir, rename, rm, truncate } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import { enrich } from "../../../src/jobs/enrich/execute.js";
import { jobHere } from "../../helpers/job-here.js";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { column, servedWorkspace } from "../../helpers/workspace.js";

const [monday, tuesday, thursday] = [
  "2026-11-23T23:00:00Z",
  "2026-11-24T22:00:00Z",
  "2026-11-26T02:00:00Z",
];

/** The dump of a night: a tenth of the rows differs from that of the night before. */
const dumpOf = (night: number): string[] =>
  Array.from({ length: 40 }, (_, n) => `h${n + 4 * night}.example.com`);

const line = ["-o", "nights/{date}.csv", "--resume"];

type Nights = Awaited<ReturnType<typeof nights>>;

async function nights() {
  const place = await servedWorkspace({ "dump.csv": column("domain", dumpOf(0)) });
  await mkdir(place.at("nights"));
  return {
    ...place,
    /** Runs the nightly command at a time. */
    enrichAt: (time: string, ...args: readonly string[]) =>
      place.askWith({ clock: HurriedClock.at(time) }, "enrich", "dump.csv", ...args),
    dump: (night: number) => place.write("dump.csv", column("domain", dumpOf(night))),
    /** Names in the folder of the nights. */
    names: async () => (await readdir(place.at("nights"))).toSorted(),
    items: async (name: string) => {
      const rows = (await place.read(`nights/${name}`)).trimEnd().split("\n").slice(1);
      return rows.map((row) => row.split(",", 1)[0]!);
    },
  };
}

/** Nights after one that stopped early on Monday. */
async function stopped(...args: readonly string[]): Promise<Nights> {
  const begun = await nights();
  expect(await begun.enrichAt(monday, ...args, "--max-requests", "25")).toMatchObject({ code: 75 });
  return begun;
}

/** Files of a whole night with a report. */
const monday23 = ["2026-11-23.csv", "2026-11-23.csv.manifest.json", "2026-11-23.html"];

const reported = [...line, "--report", "nights/{date}.html"];

test("output and report are named after the day and the run", async () => {
  const { names, manifest, enrichAt } = await nights();
  const { code, stdout } = await enrichAt(monday, ...reported, "--json");
  const { run_id, started_at } = JSON.parse(stdout) as Manifest;
  expect([code, started_at.slice(0, 10)]).toEqual([0, "2026-11-23"]);
  expect(await names()).toEqual(monday23);
  expect(await manifest("nights/2026-11-23.csv")).toMatchObject({
    run_id,
    output: { path: "nights/2026-11-23.csv", rows: 40 },
  });
});

test("a run that goes on the next day keeps its day, and its rows", async () => {
  const { server, names, items, manifest, enrichAt } = await stopped(...reported);
  expect(await names()).toEqual(["2026-11-23.csv.part", "{date}.csv.state"]);
  expect(await enrichAt(tuesday, ...reported, "-q")).toMatchObject({ code: 0, stderr: "" });
  expect(await names()).toEqual(monday23);
  expect(await items("2026-11-23.csv")).toEqual(dumpOf(0));
  expect(await manifest("nights/2026-11-23.csv")).toMatchObject({
    resumed: 1,
    started_at: expect.stringContaining("2026-11-23T23:00") as string,
  });
  expect(new Set(server.asked.values())).toEqual(new Set([1]));
});

test("a night killed after its last row is completed under its day, and the next dump starts its own", async () => {
  const { at, server, dump, names, items, enrichAt } = await nights();
  const job = jobHere({
    settings: { output: at("nights/{date}.csv"), intelUrl: server.url, resume: true },
    input: { path: at("dump.csv") },
    clock: HurriedClock.at(monday),
    onPublished: () => Promise.reject(new Error("killed")),
  });
  await expect(enrich(job)).rejects.toThrow("killed");
  await rename(at("nights/2026-11-23.csv"), at("nights/2026-11-23.csv.part"));
  await rm(at("nights/2026-11-23.csv.manifest.json"));
  await dump(1);
  expect(await enrichAt(tuesday, ...line)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("completed the interrupted run of") as string,
  });
  for (const [night, name] of ["2026-11-23.csv", "2026-11-24.csv"].entries()) {
    expect(await names()).toContain(`${name}.manifest.json`);
    expect(await items(name)).toEqual(dumpOf(night));
  }
  expect(await names()).toHaveLength(4);
});

test("a DuckDB file keeps its day, too", async () => {
  const output = ["-o", "duckdb:nights/{date}.duckdb?table=t", "--resume"];
  const { at, names, enrichAt } = await stopped(...output);
  expect(await enrichAt(tuesday, ...output, "-q")).toMatchObject({ code: 0, stderr: "" });
  expect((await names()).filter((each) => !each.includes("2026-11-23"))).toEqual([]);
  expect(await queryDuckdb("FROM t", at("nights/2026-11-23.duckdb"))).toHaveLength(40);
});

test("retry names its files after the run that it completes", async () => {
  const { enrichAt, runWith, names } = await nights();
  await enrichAt(monday, "-o", "monday.csv", "-q");
  const later = { clock: HurriedClock.at(tuesday) };
  const retry = ["retry", "monday.csv", "--local", "-q"];
  const files = ["-o", "nights/{date}.csv", "--report", "nights/{date}.html"];
  expect(await runWith(later, ...retry, ...files)).toMatchObject({ code: 0 });
  expect(await names()).toEqual(monday23);
  const unknown = await runWith(later, "retry", "dump.csv", "-o", "{date}.csv", "--local");
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("has no manifest") });
});

describe("--against previous", () => {
  const compared = ["--report", "nights/{date}.html", "--against", "previous"];

  test("compares with the night before, missed nights or not, and never with itself", async () => {
    const { enrichAt, read, dump } = await nights();
    await enrichAt(monday, ...line, "-q");
    await dump(1);
    for (const time of [thursday, thursday]) {
      expect(await enrichAt(time, ...line, ...compared, "-q")).toMatchObject({
        code: 0,
        stderr: "",
      });
      const text = await read("nights/2026-11-26.html");
      expect(text).toMatch(/4 new.*4 gone.*since <[^>]*>nights\/2026-11-23\.csv/s);
    }
  });

  test("passes over files that are no whole output of the pattern", async () => {
    const { at, enrichAt, read, run, dump } = await nights();
    const at23 = at("nights/2026-11-23.csv");
    await enrichAt(monday, ...line, "-q");
    const copy = async (name: string) => {
      await copyFile(at23, at(`nights/${name}`));
      await copyFile(`${at23}.manifest.json`, at(`nights/${name}.manifest.json`));
    };
    // Later than this night, of other patterns, unfinished, refused, cut off, without a manifest.
    for (const name of ["2026-12-01.csv", "x-2026-11-25.csv", "2026-11-25.ndjson"])
      await copy(name);
    for (const name of ["2026-11-25.csv.part", "2026-11-25.csv.failed"]) await copy(name);
    await copy("2026-11-24.csv");
    await truncate(at("nights/2026-11-24.csv"), 900);
    await copyFile(at23, at("nights/2026-11-25.csv"));
    await dump(1);
    const { code, stderr } = await enrichAt(thursday, ...line, ...compared);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /not compared with nights\/2026-11-25\.csv: it has no manifest.*\n.*not compared with nights\/2026-11-24\.csv: .* has 900 bytes instead of \d+\n/,
    );
    expect(await read("nights/2026-11-26.html")).toContain("nights/2026-11-23.csv");
    const report = ["report", "nights/2026-11-26.csv", "--against", "previous", "-q"];
    const { stdout } = await run(...report);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "4 new malicious, 4 gone; 36 the same since nights/2026-11-23.csv",
    );
  });
});

test("a report of a folder that is missing has nothing to compare with", async () => {
  const { run } = await nights();
  expect(await run("report", "gone/2026-11-26.csv", "--against", "previous")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no file gone/2026-11-26.csv"),
  });
});

describe("folders named after the day or the run", () => {
  test.each(["{run_id}.csv", "out.csv"])(
    "are created, also for the report, and lead to earlier nights: %s",
    async (name) => {
      const { at, dump, names, enrichAt, read } = await nights();
      const dated = ["-o", `nights/dt={date}/${name}`, "--resume", "-q"];
      const report = ["--report", "nights/pages/{date}/r.html", "--against", "previous"];
      await mkdir(at("nights/pages"));
      for (const [night, time] of [monday, thursday].entries()) {
        await dump(night);
        const { code, stderr } = await enrichAt(time, ...dated, ...(night === 0 ? [] : report));
        expect([code, stderr]).toEqual([0, ""]);
      }
      expect(await names()).toEqual(["dt=2026-11-23", "dt=2026-11-26", "pages"]);
      const [out = ""] = await readdir(at("nights/dt=2026-11-23"));
      const made = await read("nights/pages/2026-11-26/r.html");
      expect(made).toContain(`nights/dt=2026-11-23/${out}`);
    },
  );

  test("keep the state of an interrupted run beside them, and its day", async () => {
    const dated = ["-o", "nights/dt={date}/{run_id}.csv", "--resume", "-q"];
    const { at, names, enrichAt } = await stopped(...dated);
    expect(await names()).toEqual(["dt=2026-11-23", "dt={date}%2F{run_id}.csv.state"]);
    expect(await enrichAt(thursday, ...dated)).toMatchObject({ code: 0 });
    expect(await names()).toEqual(["dt=2026-11-23"]);
    expect(await readdir(at("nights/dt=2026-11-23"))).toHaveLength(2);
  });

  test("do not stay if the run is refused", async () => {
    const { names, enrichAt } = await nights();
    const args = ["-o", "nights/{date}/{run_id}/out.csv", "--item-column", "none"];
    expect(await enrichAt(monday, ...args)).toMatchObject({ code: 2 });
    expect(await names()).toEqual([]);
  });

  test.each([
    ["Parquet", "nights/{date}/out.parquet", "out.parquet"],
    ["DuckDB", "duckdb:nights/{date}/out.duckdb?table=t", "out.duckdb"],
  ])("hold %s", async (_, output, file) => {
    const { at, enrichAt } = await nights();
    expect(await enrichAt(monday, "-o", output, "-q")).toMatchObject({ code: 0 });
    expect(await readdir(at("nights/2026-11-23"))).toContain(file);
  });
});

test.each([
  [
    ["-o", "nights/out.csv", "--report", "r.html", "--against", "previous"],
    "does not identify a run",
  ],
  [["-o", "nights/out.csv", "--against", "dump.csv"], "--against needs --report"],
  [
    ["-o", "out.csv", "--report", "r.html", "--against", "./out.csv"],
    "is the output itself, which the run replaces",
  ],
  [["-o", "out.csv", "--report", "r.html", "--against", "gone.csv"], "there is no file gone.csv"],
  [["-o", "nights/{day}.csv"], "{day} stands for nothing"],
  [["-o", "nights/{DATE}.csv"], "{DATE} stands for nothing"],
  [["-o", "gone/{date}/out.csv"], "gone does not exist"],
  [["-o", "out.csv", "--report", "{today}.html"], "{today} stands for nothing"],
  [["-o", "duckdb:out.duckdb?table=t_{date}"], "in the name of a table"],
  [["-o", "postgres://u@h/d?table=t_{date}"], "in the name of a table"],
])("refuses %j before the run", async (args, message) => {
  const { server, enrichAt } = await nights();
  const { code, stderr } = await enrichAt(monday, ...args);
  expect([code, stderr, server.total]).toEqual([2, expect.stringContaining(message), 0]);
});

test("the tag lists of a dated run are in the manifest beside its rows", async () => {
  const { names, read, run, write } = await nights();
  await write("in.txt", "192.0.2.1\n");
  const out = ["-o", "nights/{date}-{run_id}.csv", "--tag-ips", "tags"];
  const enriched = await run("enrich", "in.txt", "--local", "-q", ...out);
  expect(enriched).toMatchObject({ code: 0, stderr: "" });
  const manifests = (await names()).filter((name) => name.endsWith(".json"));
  expect(manifests).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\d-[\da-f-]{36}\.csv\.manifest/),
  ]);
  expect(JSON.parse(await read(`nights/${manifests[0]}`))).toHaveProperty("tag_exports");
});
