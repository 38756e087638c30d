import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { columns } from "../../../src/core/columns.js";
import { dialects } from "../../../src/io/output/registry.js";
import { queryDuckdb } from "./tables/warehouse-readers.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const samples = fileURLToPath(new URL("../../../samples/", import.meta.url));

/** Partial answers are asked for again after a while, which takes real time. */
const local = ["--local", "--quiet", "--partial-retries", "0"];

async function schemaOf(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runRepute(["schema", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

describe.each(["json-schema", ...dialects.map(({ name }) => name)])(
  "repute schema --format %s",
  (format) => {
    test("lists every added column, and the input's columns if an input is named", async () => {
      const [bare, full] = [
        await schemaOf("--format", format, "--item-column", "a", "--item-column", "b"),
        await schemaOf(join(samples, "indicators.csv"), "--format", format),
      ];
      for (const { name } of columns) expect(bare).toContain(`rep_${name}`);
      expect(bare).toContain("rep_column");
      expect(bare).not.toContain("indicator");
      expect(full).toContain("indicator");
      expect(full).not.toContain("rep_column");
    });

    test("uses the prefix, and refuses an input that has a column of the same name", async () => {
      const text = await schemaOf("--format", format, "--prefix", "x_");
      expect(text).toContain("x_looked_up_at");
      expect(text).not.toContain("rep_");
      const args = ["schema", "-", "--format", format];
      const { code, stdout, stderr } = await runRepute(args, { stdin: "ip,rep_tags\n" });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("rep_tags");
    });
  },
);

test.each([
  ["events.ndjson", "event.source.ip"],
  ["indicators.csv", "indicator"],
])("the JSON Schema for %s matches its flat rows", async (name, itemColumn) => {
  const input = [join(samples, name), "--item-column", itemColumn];
  const schema = z.fromJSONSchema(
    JSON.parse(await schemaOf(...input, "--format", "json-schema")) as z.core.JSONSchema.JSONSchema,
  );
  const out = join(await temporaryFolder(), "out.ndjson");
  const args = ["enrich", ...input, "-o", out, "--shape", "flat", "--fail-on", "never", ...local];
  expect(await runRepute(args)).toMatchObject({ code: 0, stderr: "" });
  const rows = (await readFile(out, "utf8")).trimEnd().split("\n");
  const faults = rows.flatMap((row) => schema.safeParse(JSON.parse(row)).error?.issues ?? []);
  expect([rows.length > 0, faults]).toEqual([true, []]);
  const wrong = rows[0]!.replace('"complete"', '"fine"');
  expect(schema.safeParse(JSON.parse(wrong)).success).toBe(false);
});

test("begins with the columns of a table, a query or several inputs", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "t.duckdb");
  const parquet = join(folder, "t.parquet");
  const hits = "CREATE TABLE hits AS SELECT '192.0.2.1' AS ip, 7 AS seen";
  await queryDuckdb(`${hits}; COPY hits TO '${parquet}'`, file);
  const columnsOf = async (...inputs: readonly string[]): Promise<readonly string[]> => {
    const statements = await schemaOf(...inputs, "--format", "duckdb");
    const [table = ""] = statements.split(";", 1);
    return [...table.matchAll(/^ {2}"((?!rep_)\w+)"/gm)].map(([, name = ""]) => name);
  };
  const query = `duckdb:${file}?query=SELECT *, 1 AS one FROM hits`;
  expect(await columnsOf(parquet)).toEqual(["ip", "seen"]);
  expect(await columnsOf(`duckdb:${file}?table=hits`)).toEqual(["ip", "seen"]);
  expect(await columnsOf(query)).toEqual(["ip", "seen", "one"]);
  expect(await columnsOf(parquet, query)).toEqual(["ip", "seen", "one"]);
});

test.each([
  [["enrich", join(samples, "events.ndjson"), "--item-column", "event.source.ip"]],
  [["enrich", join(samples, "indicators.csv"), join(samples, "watchlist.txt")]],
])("the schema of a manifest has every member that %s --json prints", async (args) => {
  const text = await schemaOf("--format", "manifest");
  const folder = await temporaryFolder();
  const to = ["--tag-ips", join(folder, "tags"), "-o", join(folder, "out.csv")];
  const { stdout } = await runRepute([...args, ...to, "--json", ...local]);
  const schema = z.fromJSONSchema(JSON.parse(text) as z.core.JSONSchema.JSONSchema);
  expect(schema.safeParse(JSON.parse(stdout)).error).toBeUndefined();
});
