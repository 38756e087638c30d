import { expect, test } from "vitest";
import type { Manifest } from "../../../../src/core/manifest.js";
import { failOn } from "../../../../src/jobs/enrich/failure-limits.js";
import { summary } from "../../../helpers/summary-text.js";

const manifest: Manifest = {
  schema_version: 2,
  program: { name: "repute", version: "9.9.9" },
  run_id: "r",
  command: ["repute", "enrich"],
  input: {
    path: "dump.csv",
    format: "csv",
    delimiter: ",",
    header: "record",
    item_column: "ioc",
    item_column_by: "name",
    item_column_share: 1,
    kind_column: null,
    kind_column_by: null,
    bytes: 920_439,
    rows: 10_430,
    grew_while_interrupted: false,
  },
  output: { path: "out.csv", format: "csv", bytes: 2_400_000, rows: 10_430, sha256: "00" },
  statuses: { complete: 9876, partial: 12, invalid: 0, unsupported: 540, failed: 2 },
  verdicts: { malicious: 1_200, suspicious: 0, listed: 31, none: 8_659, unknown: 540 },
  kinds: { ip: 5000, domain: 4000, url: 890, sha1: 0, crypto_wallet: 0, email: 0 },
  requests: {
    query: { total: 9000, outcomes: { "200": 8900, "503": 98, timeout: 2 } },
    "quick-check": { total: 8800, outcomes: { "200": 8800 } },
    tags: { total: 0, outcomes: {} },
  },
  sources: { live: 8700, cache: 0, duplicate: 1190, local: 0 },
  unsupported: { sha256: 500, file_name: 30, empty: 10 },
  errors: { timeout: 2 },
  tags: { "a:1": 1, "a:2": 2, "a:3": 3, "a:4": 4, "a:5": 5, "a:6": 6, "a:7": 7 },
  drift: { "intent=odd": 3 },
  warnings: { "rows with surplus cells": 7, "the last line had no end": 1 },
  warned_rows: { "rows with surplus cells": 1200 },
  started_at: "2026-01-01T00:00:00.000Z",
  ended_at: "2026-01-01T00:01:43.000Z",
  seconds: 103,
  resumed: 0,
  exit_reason: "done",
  exit_code: 0,
  resumable: false,
};

test("lists counts, most frequent first", async () => {
  expect(await summary(manifest, 100)).toBe(
    `repute: 10,430 rows in 1 min 43 s (101 rows/s)
  verdict      malicious             1,200   11.5%
               listed                   31    0.3%
               none (nothing known)  8,659   83.0%
               unknown                 540    5.2%
  rows         10,430 read, 10,430 written
  status       complete     9,876   94.7%
               partial         12    0.1%
               unsupported    540    5.2%
               failed           2   <0.1%
  kinds        ip 5,000, domain 4,000, url 890
  requests     query 9,000 (200: 8,900, 503: 98, timeout: 2)
               quick-check 8,800 (200: 8,800)
  answers      live 8,700, duplicate 1,190
  unsupported  sha256 500, file_name 30, empty 10
  errors       timeout 2
  tags         a:7 7, a:6 6, a:5 5, a:4 4, a:3 3, and 2 others
  drift        intent=odd 3
  warnings     rows with surplus cells (7 times, first in row 1,200)
               the last line had no end
  output       out.csv (2.4 MB)
  manifest     out.csv.manifest.json`,
  );
});

test("only warnings are left with --quiet", async () => {
  expect(await summary(manifest, 100, { quiet: true })).toBe(
    `repute: warning: rows with surplus cells (7 times, first in row 1,200)
repute: warning: the last line had no end`,
  );
});

/** The warning of --quiet about rows that failed. */
async function failedRows(facts: Partial<Manifest>, own: Parameters<typeof summary>[2] = {}) {
  const none = { warnings: {}, errors: {}, unsupported: {}, exit_code: 3 };
  const text = await summary({ ...manifest, ...none, ...facts }, 200, { quiet: true, ...own });
  return text.replace("repute: warning: ", "");
}

test("--quiet names failed rows, the commonest code and the command that retries them", async () => {
  const statuses = { ...manifest.statuses, failed: 1_200, invalid: 5_000 };
  const errors = { timeout: 200, http_500: 1_000, invalid_item: 5_000 };
  expect(await failedRows({ statuses, errors })).toBe(
    "1,200 failed of 10,430 rows, most often http_500 (1,000); to retry the failed rows: repute retry out.csv",
  );
});

test.each([
  [{ format: "es-bulk" }, {}, "; rep_error in the output says why"],
  [{}, { columns: ["item", "status", "error"], prefix: "x_" }, "; x_error in the output says why"],
  [{}, { columns: ["item", "status"] }, ""],
])("--quiet says where the reason is if %j %j cannot be retried", async (format, own, why) => {
  const output = { ...manifest.output, ...format };
  const text = await failedRows({ output, errors: { timeout: 2 } }, own);
  expect(text).toBe(`2 failed of 10,430 rows, most often timeout (2)${why}`);
});

test.each([
  ["unsupported", "4 partial, 2 invalid, 9 unsupported of 10,430 rows, most often md5 (9)"],
  ["partial", "4 partial of 10,430 rows"],
])("--quiet counts every status that --fail-on %s names", async (level, text) => {
  const facts = {
    statuses: { complete: 0, partial: 4, invalid: 2, unsupported: 9, failed: 0 },
    errors: { invalid_item: 2 },
    unsupported: { md5: 9 },
  };
  const why = "rep_error in the output says why";
  expect(await failedRows(facts, { failOn: failOn().parse(level) })).toBe(`${text}; ${why}`);
});

const { output } = manifest;
const retried = {
  failed: { complete: 7, partial: 2, failed: 3, unsupported: 2 },
  partial: { complete: 1, partial: 4 },
};

test.each<[string, Partial<Manifest>, string]>([
  [
    "an output to stdout has no manifest",
    { output: { ...output, path: null } },
    "\n  output       stdout (2.4 MB)\n",
  ],
  [
    "a bundle has indicators instead of rows",
    { output: { ...output, format: "stix", indicators: 1_234 } },
    "\n  rows         10,430 read, 1,234 indicators written\n",
  ],
  [
    "says what a retry improved",
    { retried },
    `
  retried      failed rows are now complete 7, failed 3, partial 2, unsupported 2
               partial rows are now partial 4, complete 1
`,
  ],
  ["says nothing was retried", { retried: {} }, "\n  retried      no row was failed or partial\n"],
])("%s", async (_, facts, text) => {
  const told = await summary({ ...manifest, ...facts }, 120);
  expect(`${told}\n`).toContain(text);
  expect(told.includes("\n  manifest ")).toBe(facts.output?.path !== null);
});

test.each([
  ["out.csv", "rep_", "repute retry out.csv"],
  ["set/", "rep_", "repute retry set/"],
  ["s3://bucket/out.csv", "rep_", "repute retry s3://bucket/out.csv"],
  ["my out.ndjson.gz", "x_", "repute retry 'my out.ndjson.gz' --prefix x_"],
])("ends with the command that retries failed rows of %s", async (path, prefix, command) => {
  const failed = { ...manifest, output: { ...manifest.output, path }, exit_code: 3 };
  const settings = { prefix, stateDir: "state" };
  expect((await summary(failed, 100, settings)).split("\n").at(-1)).toBe(
    `  to retry the failed rows: ${command}`,
  );
});

test.each([
  ["rows failed but do not count", { path: "out.csv" }, 0],
  ["the output is stdout", { path: null }, 3],
  ["the output is a table", { path: "duckdb:x.duckdb?table=t", format: "duckdb" }, 3],
  ["retry cannot read the format", { path: "out.ndjson", format: "es-bulk" }, 3],
  ["retry needs other columns", { path: "out.csv" }, 3, ["item", "status", "error"]],
])("proposes no retry if %s", async (_, output, exit_code, columns?: string[]) => {
  const given = { ...manifest, output: { ...manifest.output, ...output }, exit_code };
  expect(await summary(given, 100, { prefix: "rep_", columns })).not.toContain("repute retry");
});
