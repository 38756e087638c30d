import { expect, it } from "vitest";
import { columns, schemaVersion } from "../../../../src/core/columns.js";
import { tableSchema } from "../../../../src/outputs/warehouse/table-schema.js";

/**
 * The columns of every released schema version, as `name type`. Never edit a version: to change a
 * column, raise `schemaVersion` and add the new table here.
 */
const recorded: Readonly<Record<number, readonly string[]>> = {
  1: [
    "run_id text",
    "row count",
    "item text",
    "kind text",
    "status text",
    "missing text[]",
    "type text",
    "mail_blocklist text",
    "bogon boolean",
    "intent text",
    "tags text[]",
    "first_seen timestamp",
    "last_seen timestamp",
    "reverse_dns text[]",
    "abuse_email text",
    "abuse_status text",
    "abuse_verified_at timestamp",
    "asn text",
    "as_name text",
    "as_country text",
    "honeypot_first_seen timestamp",
    "honeypot_last_seen timestamp",
    "honeypot_observations count",
    "spamtrap_first_seen timestamp",
    "spamtrap_last_seen timestamp",
    "spamtrap_observations count",
    "quick_mail_blocklist text",
    "quick_intent text",
    "quick_bogon boolean",
    "quick_activity boolean",
    "source text",
    "http_status count",
    "attempts count",
    "looked_up_at timestamp",
    "error_code text",
    "error text",
    "extra text",
  ],
  2: [
    "run_id text",
    "row count",
    "item text",
    "kind text",
    "status text",
    "verdict text",
    "missing text[]",
    "type text",
    "mail_blocklist text",
    "bogon boolean",
    "intent text",
    "tags text[]",
    "first_seen timestamp",
    "last_seen timestamp",
    "reverse_dns text[]",
    "abuse_email text",
    "abuse_status text",
    "abuse_verified_at timestamp",
    "asn text",
    "as_name text",
    "as_country text",
    "honeypot_first_seen timestamp",
    "honeypot_last_seen timestamp",
    "honeypot_observations count",
    "spamtrap_first_seen timestamp",
    "spamtrap_last_seen timestamp",
    "spamtrap_observations count",
    "quick_mail_blocklist text",
    "quick_intent text",
    "quick_bogon boolean",
    "quick_activity boolean",
    "source text",
    "http_status count",
    "attempts count",
    "looked_up_at timestamp",
    "error_code text",
    "error text",
    "extra text",
  ],
};

it("has the columns recorded for its schema version", () => {
  const { columns: table } = tableSchema("duckdb", { inputColumns: [], prefix: "" });
  expect(table.map(({ name, type }) => `${name} ${type}`)).toEqual(recorded[schemaVersion]);
});

it("has a record of every schema version", () => {
  const versions = Array.from({ length: schemaVersion }, (_, index) => index + 1);
  expect(Object.keys(recorded).map(Number)).toEqual(versions);
});

it("describes every column", () => {
  expect(columns.filter(({ description }) => description.trim() === "")).toEqual([]);
});
