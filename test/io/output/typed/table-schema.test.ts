import { expect, it } from "vitest";
import { schemaVersion } from "../../../../src/core/columns.js";
import { duckdb } from "../../../../src/io/output/duckdb/dialect.js";
import { tableSchema } from "../../../../src/io/output/typed/table-schema.js";

/** The columns of this schema version, as `name type`. Whoever changes them raises the version. */
const recorded = {
  version: 4,
  columns: [
    "run_id text",
    "row count",
    "loaded_at timestamp",
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
  const { columns: table } = tableSchema(duckdb.rules, { columns: [], prefix: "" });
  expect({
    version: schemaVersion,
    columns: table.map(({ name, type }) => `${name} ${type}`),
  }).toEqual(recorded);
});
