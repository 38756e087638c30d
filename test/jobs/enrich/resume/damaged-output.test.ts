import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { comparableRows } from "../../../helpers/comparable-rows.js";
import type { RunReputeResult } from "../../../helpers/run-repute.js";
import { column, servedWorkspace } from "../../../helpers/workspace.js";

const names = Array.from({ length: 60 }, (_, n) => `h${n}.example.com`);

/** Requests after which the first run stops. */
const midway = 25;

/** What another program or a failing disk does to a file of rows, by its path. */
const damages = {
  changed: (path) => {
    const bytes = readFileSync(path);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(path, bytes, { flag: "r+" });
  },
  "with zeros for a block": (path) => {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0, 0, Math.ceil(bytes.length / 3)), { flag: "r+" });
  },
  "cut off": (path) => truncateSync(path, 10),
  removed: (path) => rmSync(path),
  "replaced by a link": (path) => {
    const moved = join(dirname(path), "..", `${randomUUID()}.moved`);
    renameSync(path, moved);
    symlinkSync(moved, path);
    onTestFinished(() => rmSync(moved));
  },
  "with more at its end": (path) => appendFileSync(path, "x".repeat(100_000)),
} satisfies Record<string, (path: string) => void>;

type DamageName = keyof typeof damages;

/** An output, and the file that its rows wait in. */
const outputs = {
  "out.csv": "out.csv.part",
  "out.ndjson": "out.ndjson.part",
  "out.csv.gz": "out.csv.gz.part",
  "out.parquet": "out.parquet.state/rows.part",
  "out.stix.json": "out.stix.json.state/rows.part",
  "duckdb:out.db?table=t": "out.db.t.state/rows.part",
} as const;

type OutputName = keyof typeof outputs;

/** Every damage to CSV, and two of them to the others. */
const cases = (Object.keys(outputs) as OutputName[]).flatMap((output) =>
  (Object.keys(damages) as DamageName[])
    .filter((damage) => output === "out.csv" || damage === "changed" || damage === "removed")
    .map((damage) => [output, damage] as const),
);

test.each(cases)(
  "rows in %s that are %s during the run are not published, and --resume writes them again",
  async (output, damage) => {
    const run = await stopped(output);
    // The rows so far were verified when the run continued.
    run.server.onRequest = (total) => {
      if (total === midway + 1) damages[damage](run.part);
      return true;
    };
    const found = await run.enrich(["--resume"]);
    expect(found.stderr).toMatch(/rows\.part|out\.\S+\.part/);
    expect(found.stderr).not.toContain("bug");
    expect([found.code, found.stderr]).toEqual([1, expect.stringContaining("--resume")]);
    expect(isPublished(run)).toBe(false);
    run.server.onRequest = () => true;
    if (lstatSync(run.part, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(run.part);
    await expectWhole(run, await run.enrich(["--resume"]));
  },
);

const between = cases.filter(([, damage]) => !/link|at its end/.test(damage));

test.each(between)(
  "rows in %s that are %s between two runs are written again with the answers so far",
  async (output, damage) => {
    const run = await stopped(output);
    damages[damage](run.part);
    const resumed = await run.enrich(["--resume"]);
    expect(resumed.stderr).toMatch(
      /warning: .*part .*; the rows are written again with the answers so far/,
    );
    await expectWhole(run, resumed);
  },
);

test("a link in place of the rows is not followed, and --resume goes on without it", async () => {
  const run = await stopped("out.csv");
  damages["replaced by a link"](run.part);
  const { code, stderr } = await run.enrich(["--resume"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("remove the link")]);
  rmSync(run.part);
  await expectWhole(run, await run.enrich(["--resume"]));
});

type StoppedRun = Awaited<ReturnType<typeof stopped>>;

/** A run that has stopped after some rows. */
async function stopped(output: OutputName) {
  const place = await servedWorkspace({ "in.csv": column("domain", names) });
  const { at, run, server } = place;
  for (const name of names) server.malicious.add(name);
  const how = ["--lookups", "query", "--concurrency", "4", "--intel-url", server.url];
  const to = output.includes("stix") ? ["--to", "stix"] : [];
  const enrich = (flags: readonly string[]): Promise<RunReputeResult> =>
    run("enrich", "in.csv", "-o", output, ...to, ...how, "--rate", "9000/s", ...flags);
  const { code, stderr } = await enrich(["--max-requests", String(midway)]);
  expect(code, stderr).toBe(75);
  return { ...place, output, part: at(outputs[output]), enrich };
}

/** All rows are there, each item was asked for once, and the manifest tells the truth. */
async function expectWhole(
  { at, manifest, output, run, server }: StoppedRun,
  { code, stderr }: Pick<RunReputeResult, "code" | "stderr">,
): Promise<void> {
  expect(code, stderr).toBe(0);
  expect([server.total, server.asked.size]).toEqual([names.length, names.length]);
  const base = output.startsWith("duckdb:") ? "out.db.t" : output;
  expect(await manifest(base)).toMatchObject({
    statuses: { complete: names.length },
    requests: { query: { total: names.length } },
    output: { rows: names.length },
  });
  const verified = await run("verify", output);
  expect(verified.code, verified.stderr).toBe(0);
  expect(await itemsIn(at, output)).toEqual(names);
}

/** The items in the order of the rows; of an output other than text, those that it should have. */
async function itemsIn(at: StoppedRun["at"], output: OutputName): Promise<readonly string[]> {
  if (!/\.(?:csv|ndjson)/.test(output)) return names;
  const lines = comparableRows(await readFile(at(output)), output);
  return lines.flatMap((line) => /h\d+\.example\.com/.exec(line)?.[0] ?? []);
}

/** Whether something is in an output, which tables have from the start. */
function isPublished({ at, output }: StoppedRun): boolean {
  return existsSync(at(output.startsWith("duckdb:") ? "out.db.t.manifest.json" : output));
}
