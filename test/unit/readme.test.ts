import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { optionTable } from "../helpers/option-table.js";
import { enrichCommand } from "../../src/cli/commands/enrich.js";
import { columns } from "../../src/core/columns.js";
import type { ColumnType } from "../../src/core/columns.js";
import { dialectNames, sqlType } from "../../src/outputs/warehouse/dialect.js";

const path = fileURLToPath(new URL("../../README.md", import.meta.url));

const databases = { postgres: "PostgreSQL", duckdb: "DuckDB", bigquery: "BigQuery" } as const;

/** Parquet's logical types; the tests that read the files hold them to it. */
const parquetTypes: Readonly<Record<ColumnType, string>> = {
  text: "string",
  boolean: "boolean",
  count: "64-bit integer",
  timestamp: "timestamp, microseconds, UTC",
  "text[]": "list of strings",
};

/** What the README's tables have to say, by the name in their marker. */
const tables: Readonly<Record<string, () => string>> = {
  columns: () =>
    [
      "| column | type | what it says |",
      "|---|---|---|",
      ...columns.map(
        ({ name, type, description }) => `| \`rep_${name}\` | ${type} | ${description} |`,
      ),
    ].join("\n"),
  types: () =>
    [
      `| type above | Parquet | ${dialectNames.map((name) => databases[name]).join(" | ")} |`,
      `|---|---|${"---|".repeat(dialectNames.length)}`,
      ...Object.entries(parquetTypes).map(
        ([type, parquet]) =>
          `| ${type} | ${parquet} | ${dialectNames
            .map((name) => `\`${sqlType(name, type as ColumnType)}\``)
            .join(" | ")} |`,
      ),
    ].join("\n"),
  flags: () => optionTable(enrichCommand.options).trimEnd(),
};

it("has tables that say what the program does", async () => {
  const readme = await readFile(path, "utf8");
  const fresh = readme.replace(
    /<!-- table: (\w+) -->\n[^]*?<!-- end -->/g,
    (_, name: string) => `<!-- table: ${name} -->\n${tables[name]?.()}\n<!-- end -->`,
  );
  const updating = process.env["UPDATE_README"] === "1";
  if (updating) await writeFile(path, fresh);
  expect(updating ? fresh : readme).toBe(fresh);
  for (const name of Object.keys(tables)) expect(readme).toContain(`<!-- table: ${name} -->`);
});
