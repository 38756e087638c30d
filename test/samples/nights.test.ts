import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { metricsText } from "../../src/cli/unattended/metrics-text.js";
import { columns } from "../../src/core/columns.js";
import { findingStatuses, verdicts } from "../../src/core/finding.js";
import { itemKinds } from "../../src/core/item/item.js";
import type { FoundManifest } from "../../src/core/manifest/found-manifest.js";
import { type Service, startService } from "../../src/service/service.js";
import { machineWithDump, readNights, runLine } from "./nights.js";

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.close());

test("the crontab's command ends with 0 and writes rows and metrics", async () => {
  const machine = await machineWithDump(service.intelUrl);
  const text = machine.placed(await readNights("repute.crontab"));
  const [, url = ""] = /^REPUTE_INTEL_URL=(.*)$/m.exec(text) ?? [];
  const [, cwd = "", line = ""] = /^0 2 \* \* \* cd (\S+) && (.*)$/m.exec(text) ?? [];
  expect(cwd).toBe(join(machine.folder, "var/lib/repute"));
  const ended = await runLine(line, machine, { REPUTE_INTEL_URL: url });
  expect([ended.code, ended.stdout]).toEqual([0, ""]);
  const kept = (await readdir(join(cwd, "nights"))).map((name) => name.replace(/^[\d-]{10}/, ""));
  expect(kept.toSorted()).toEqual([".csv", ".csv.manifest.json", ".html"]);
  const metrics = join(machine.folder, "var/lib/prometheus/node-exporter/repute.prom");
  expect(await readFile(metrics, "utf8")).toContain('repute_rows{command="enrich"');
});

test.each(["prometheus-rules.yml", "grafana-dashboard.json"])(
  "%s names metrics and labels that a run has",
  async (name) => {
    const text = metricsText({
      command: "enrich",
      output: "out.csv",
      record: {
        statuses: { complete: 1, partial: 0, invalid: 0, unsupported: 0, failed: 0 },
        verdicts: { malicious: 0, suspicious: 0, listed: 0, none: 1 },
        sources: { live: 1, cache: 0, duplicate: 0, local: 0 },
        drift: {},
        requests: { query: { outcomes: { "200": 1 } } },
        tag_exports: [{ status: "done" }],
      } as unknown as FoundManifest,
      ended: { code: 0, reason: "done" },
      lastSuccess: 1,
      startedAt: 0,
      now: 1,
    });
    const made = new Set(text.match(/^repute_\w+(?=\{)/gm));
    const labels = new Set(text.match(/\w+(?==")/g));
    const queries = expressionsOf(parse(await readNights(name)));
    expect(queries.length).toBeGreaterThan(5);
    const named = queries.flatMap((query) => query.match(/\brepute_\w+/g) ?? []);
    expect(named.filter((metric) => !made.has(metric))).toEqual([]);
    const lists = queries.flatMap((query) => query.match(/(?:by|without) \(([^)]*)\)/g) ?? []);
    const grouped = lists.flatMap((list) => list.replace(/^\w+ /, "").match(/\w+/g) ?? []);
    const matched = queries.flatMap((query) => query.match(/\w+(?==[~"])/g) ?? []);
    expect([...grouped, ...matched].filter((label) => !labels.has(label))).toEqual([]);
  },
);

/** Every PromQL query in a file, wherever it is. */
function expressionsOf(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    (name === "expr" || name === "query") && typeof member === "string" && /repute_/.test(member)
      ? [member]
      : expressionsOf(member),
  );
}

interface Tested {
  readonly name: string;
  readonly data_tests: readonly (string | Record<string, { readonly values: readonly string[] }>)[];
}

interface DbtFile {
  readonly sources: readonly [
    { readonly tables: readonly [{ readonly columns: readonly Tested[] }] },
  ];
}

test("the dbt source's tests hold the values that the program writes", async () => {
  const file = parse(await readNights("dbt/sources.yml")) as DbtFile;
  const accepted = file.sources[0].tables[0].columns.flatMap(({ name, data_tests: tests }) =>
    tests.flatMap((each) =>
      typeof each === "string" ? [] : [[name, each["accepted_values"]?.values] as const],
    ),
  );
  expect(Object.fromEntries(accepted)).toEqual({
    rep_status: [...findingStatuses],
    rep_verdict: [...verdicts],
    rep_kind: [...itemKinds],
  });
  const known = new Set(["rep_run_id", "rep_row", ...columns.map(({ name }) => `rep_${name}`)]);
  const text = (await readNights("dbt/sources.yml")) + (await readNights("dbt/repute_newest.sql"));
  const named = text.match(/\brep_[a-z_]+/g) ?? [];
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("the dbt model has one row per item of a table of two runs", async () => {
  const machine = await machineWithDump(service.intelUrl);
  const env = { REPUTE_INTEL_URL: service.intelUrl };
  const line = "repute enrich dump.csv -o duckdb:intel.duckdb?table=enriched --quiet";
  for (const run of [1, 2])
    expect([run, (await runLine(line, machine, env)).code]).toEqual([run, 0]);
  const database = await DuckDBInstance.create(join(machine.folder, "var/lib/repute/intel.duckdb"));
  const connection = await database.connect();
  const model = (await readNights("dbt/repute_newest.sql")).replace(/\{\{.*?\}\}/, "enriched");
  await connection.run(`create view newest as ${model}`);
  const generic = (await readNights("dbt/repute_one_row_per_item.sql"))
    .replaceAll(/\{%.*?%\}/g, "")
    .replace(/\{\{.*?\}\}/, "newest");
  const wrong = await connection.runAndReadAll(generic);
  const all = await connection.runAndReadAll(generic.replace("newest", "enriched"));
  const count = await connection.runAndReadAll("select count(*) from newest");
  connection.closeSync();
  database.closeSync();
  expect(wrong.getRows()).toEqual([]);
  expect(all.getRows().length).toBeGreaterThan(5);
  expect(Number(count.getRows()[0]?.[0])).toBeGreaterThan(5);
});
