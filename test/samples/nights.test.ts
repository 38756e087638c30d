import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { metricsText } from "../../src/cli/unattended/metrics-file.js";
import { columns } from "../../src/core/columns.js";
import { findingStatuses, verdicts } from "../../src/core/finding.js";
import { itemKinds } from "../../src/core/item/item.js";
import type { FoundManifest } from "../../src/core/manifest.js";
import { leadingNames } from "../../src/io/output/typed/table-schema.js";
import { queryDuckdb } from "../io/output/tables/warehouse-readers.js";
import { machineWithDump, readNights, runLine } from "./nights.js";
import { runningService } from "../service/running-service.js";

const service = await runningService();

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

test("the dbt source's tests hold the values that the program writes", async () => {
  const { sources } = parse(await readNights("dbt/sources.yml")) as {
    readonly sources: readonly [{ readonly tables: readonly [{ readonly columns: Tested[] }] }];
  };
  const accepted = sources[0].tables[0].columns.flatMap(({ name, data_tests: tests }) =>
    tests.flatMap((each) =>
      typeof each === "string" ? [] : [[name, each["accepted_values"]?.values] as const],
    ),
  );
  expect(Object.fromEntries(accepted)).toEqual({
    rep_status: [...findingStatuses],
    rep_verdict: [...verdicts],
    rep_kind: [...itemKinds],
  });
  const known = new Set([
    ...leadingNames.map((name) => `rep_${name}`),
    ...columns.map(({ name }) => `rep_${name}`),
  ]);
  const text = (await readNights("dbt/sources.yml")) + (await readNights("dbt/repute_newest.sql"));
  const named = text.match(/\brep_[a-z_]+/g) ?? [];
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("the dbt model has one row per item, built at once or night by night", async () => {
  const machine = await machineWithDump(service.intelUrl);
  const env = { REPUTE_INTEL_URL: service.intelUrl };
  const line = "repute enrich dump.csv -o duckdb:intel.duckdb?table=enriched --quiet";
  const file = join(machine.folder, "var/lib/repute/intel.duckdb");
  const model = await readNights("dbt/repute_newest.sql");
  const generic = (await readNights("dbt/repute_one_row_per_item.sql")).replaceAll(
    /\{%.*?%\}/g,
    "",
  );
  const wrongIn = (table: string) => generic.replace("{{ model }}", table);
  const newest = "SELECT rep_item, rep_run_id, rep_row FROM";
  expect((await runLine(line, machine, env)).code).toBe(0);
  await queryDuckdb(`CREATE TABLE nightly AS ${rendered(model, null)}`, file);
  expect((await runLine(line, machine, env)).code).toBe(0);
  await queryDuckdb(
    `CREATE TEMPORARY TABLE fresh AS ${rendered(model, "nightly")};
     DELETE FROM nightly USING fresh WHERE (nightly.rep_kind, nightly.rep_item) = (fresh.rep_kind, fresh.rep_item);
     INSERT INTO nightly FROM fresh;
     CREATE TABLE at_once AS ${rendered(model, null)}`,
    file,
  );
  const rows = await queryDuckdb(`${newest} nightly ORDER BY ALL`, file);
  expect(rows.length).toBeGreaterThan(5);
  expect(rows).toEqual(await queryDuckdb(`${newest} at_once ORDER BY ALL`, file));
  expect(await queryDuckdb(wrongIn("nightly"), file)).toEqual([]);
  expect((await queryDuckdb(wrongIn("enriched"), file)).length).toBeGreaterThan(5);
});

/** What dbt makes of a model. @param built the table that an earlier night has built */
function rendered(model: string, built: string | null): string {
  return model
    .replace(/\{\{ config.*?\}\}/, "")
    .replace(/\{% if is_incremental\(\) %\}(.*?)\{% endif %\}/s, built === null ? "" : "$1")
    .replace("{{ this }}", built ?? "")
    .replace(/\{\{ source.*?\}\}/, "enriched");
}
