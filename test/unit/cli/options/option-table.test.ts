import { expect, test } from "vitest";
import { z } from "zod";
import { option } from "../../../../src/core/options.js";
import { optionRow, optionTable } from "../../../helpers/option-table.js";
import { optionSpecs } from "../../../../src/cli/options/option-spec.js";
import { enrichOptions } from "../../../../src/run/options.js";

const tableOf = (schema: z.ZodObject): string => optionTable(optionSpecs(schema).map(optionRow));

test("lists flag, default and meaning of each option, with bars escaped", () => {
  const schema = z.strictObject({
    output: option(z.string().default("-"), { description: "Where to", value: "OUT", alias: "o" }),
    shape: option(z.enum(["flat", "nested"]).optional(), { description: "Shape", value: "SHAPE" }),
    header: option(z.boolean().default(true), { description: "Has a header" }),
  });
  expect(tableOf(schema)).toBe(
    [
      "| Flag | Default | What it does |",
      "| --- | --- | --- |",
      "| `-o`, `--output OUT` | `-` | Where to |",
      "| `--shape flat\\|nested` |  | Shape |",
      "| `--no-header` |  | Has a header |",
    ].join("\n"),
  );
});

test("lists choices that are too long for the flag with the meaning", () => {
  expect(tableOf(enrichOptions)).toContain(
    "one of csv, tsv, ndjson, ecs, ocsf, stix, es-bulk, splunk-hec, parquet |",
  );
});

test("has a row for every option", () => {
  const rows = tableOf(enrichOptions).split("\n").slice(2);
  expect(rows).toHaveLength(Object.keys(enrichOptions.shape).length);
});
