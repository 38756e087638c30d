import { DuckDBInstance } from "@duckdb/node-api";
import { expect, it } from "vitest";
import { dialects } from "../../../src/io/output/registry.js";
import { schemaText } from "../../../src/jobs/schema/schema-text.js";

const options = { columns: ['a "b"', "note"], prefix: "rep_", table: "intel.hits" };

const dialectNames = dialects.map(({ name }) => name);

it.each([
  [
    "postgres",
    "intel.hits",
    [
      'CREATE TABLE IF NOT EXISTS "intel"."hits" (',
      '"rep_run_id" text NOT NULL',
      '"rep_row" bigint NOT NULL',
      '"a ""b""" text',
      '"rep_first_seen" timestamptz',
      '"rep_tags" text[]',
      'PRIMARY KEY ("rep_run_id", "rep_row")',
      'SELECT DISTINCT ON ("rep_kind", "rep_item") *',
    ],
  ],
  [
    "bigquery",
    "project.intel.hits",
    [
      "CREATE TABLE IF NOT EXISTS `project.intel`.`hits` (",
      "`a_b_` STRING",
      "`rep_tags` ARRAY<STRING>",
      "PRIMARY KEY (`rep_run_id`, `rep_row`) NOT ENFORCED",
      "'tags' IN UNNEST(`rep_missing`)",
      "TO_JSON_STRING(later.`rep_tags`) IS DISTINCT FROM TO_JSON_STRING(",
    ],
  ],
] as const)("has the types and quotes of %s", (format, table, parts) => {
  const text = schemaText(format, { ...options, table });
  for (const part of parts) expect(text).toContain(part);
  expect(text.includes("ANY(")).toBe(format === "postgres");
});

it("rejects a table whose view would have too long a name for PostgreSQL", () => {
  const longest = "t".repeat(55);
  const text = schemaText("postgres", { ...options, table: longest });
  expect(text).toContain(`CREATE VIEW "${longest}_history"`);
  expect(() => schemaText("postgres", { ...options, table: `${longest}t` })).toThrow(
    expect.objectContaining({
      code: "name_too_long",
      hint: "choose a name of at most 55 bytes",
    }),
  );
  expect(schemaText("duckdb", { ...options, table: `${longest}t` })).toContain("t_history");
});

it.each([
  ["append", undefined, ["_newest", "_changes", "_history"]],
  ["replace", undefined, ["_newest"]],
  ["merge", undefined, []],
  ["merge", ["note", "rep_kind", "rep_item"], ["_newest"]],
] as const)("prints the views that mean something with --mode %s", (mode, key, suffixes) => {
  for (const format of dialectNames) {
    const text = schemaText(format, { ...options, mode, key });
    const views = [...text.matchAll(/^(?:-- .+\n)+CREATE VIEW \S+hits(\w+)\W AS$/gm)];
    expect(views.map(([, suffix]) => suffix)).toEqual(suffixes);
  }
});

it("prints the views that the columns suffice for", () => {
  const text = (...only: string[]): string =>
    schemaText("postgres", { ...options, optional: { only } });
  const seen = ["kind", "item", "looked_up_at"];
  expect(text("verdict", "item")).not.toContain("CREATE VIEW");
  expect(text(...seen)).toContain("_newest");
  expect(text(...seen)).not.toContain("_history");
  expect(text(...seen, "verdict")).toContain("_history");
  expect(text(...seen, "verdict")).not.toContain("_changes");
});

it("rejects more columns than the database allows", () => {
  const columns = Array.from({ length: 1_600 }, (_, index) => `c${index}`);
  expect(() => schemaText("postgres", { ...options, columns })).toThrow(
    expect.objectContaining({ code: "too_many_columns" }),
  );
  expect(() => schemaText("duckdb", { ...options, columns })).not.toThrow();
});

/** Gives rows the members that their verdicts are from. */
const setDecisive = `UPDATE hits SET
  rep_kind = 'ip', rep_item = '192.0.2.' || rep_row,
  rep_looked_up_at = TIMESTAMPTZ '2026-01-01T00:00:00Z' + CAST(rep_run_id AS INTEGER) * INTERVAL 1 DAY,
  rep_intent = CASE WHEN rep_status = 'complete' THEN replace(rep_verdict, 'listed', 'none') END,
  rep_mail_blocklist = CASE rep_verdict WHEN 'listed' THEN 'ACTIVE' ELSE 'NOT_LISTED' END`;

it("the view of changes compares only what both runs know", async () => {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  await connection.run(schemaText("duckdb", { columns: [], prefix: "rep_", table: "hits" }));
  const rows = [
    "1, 1, 'malicious', ['a:b'], 'AS64496', 'complete', 'IP', []",
    "1, 2, 'malicious', ['a:b'], 'AS64496', 'complete', 'IP', []",
    "1, 3, 'malicious', ['a:b'], 'AS64496', 'complete', 'IP', []",
    "1, 4, 'malicious', [], 'AS64496', 'complete', 'IP', []",
    "2, 1, 'listed', NULL, 'AS64496', 'partial', 'IP', ['tags', 'intent']",
    "2, 4, 'none', [], 'AS64496', 'partial', 'IP', ['intent']",
    "3, 4, 'malicious', [], 'AS64496', 'complete', 'IP', []",
    "2, 2, 'malicious', NULL, NULL, 'failed', NULL, NULL",
    "2, 3, 'malicious', NULL, 'AS64500', 'partial', 'IP', ['tags']",
    "3, 1, 'suspicious', ['c:d'], 'AS64496', 'complete', 'IP', []",
  ];
  await connection.run(`INSERT INTO hits (rep_run_id, rep_row, rep_verdict, rep_tags, rep_asn,
      rep_status, rep_type, rep_missing) VALUES (${rows.join("), (")})`);
  await connection.run(setDecisive);
  await connection.run(
    "UPDATE hits SET rep_quick_intent = 'none', rep_quick_mail_blocklist = 'NOT_LISTED' WHERE rep_item = '192.0.2.4'",
  );
  const found = await connection.runAndReadAll(
    "SELECT rep_change, rep_item, rep_run_id FROM hits_changes ORDER BY rep_item",
  );
  expect(found.getRows()).toEqual([["changed", "192.0.2.3", "2"]]);
  connection.closeSync();
  instance.closeSync();
});
