import { z } from "zod";
import { UsageError } from "../../core/errors.js";
import { option } from "../../core/options.js";
import { sourceOptions } from "../../io/formats/source-options.js";
import { sinkOptions } from "../../io/output/options.js";
import { dialects } from "../../io/output/registry.js";
import { defaultTable } from "../../io/output/sql/dialect.js";
import { checkOperands, defineCommand } from "../command.js";
import { enrichInput } from "./runs/enrich-job.js";
import { writeOut } from "../terminal/data-output.js";

const schemaFormats = {
  manifest: "the record of a run, as JSON Schema",
  "json-schema": "a row of NDJSON output with --shape flat, as JSON Schema",
  ...Object.fromEntries(dialects.map(({ name, about }) => [name, about])),
};

const formatNames = Object.keys(schemaFormats);

export const schemaCommand = defineCommand({
  name: "schema",
  usage: "[input...] --format FORMAT",
  summary: "print the schema of rows (SQL, JSON Schema) or of manifests",
  description: [
    "Prints a schema to stdout. It derives from the definitions that write the rows, so the two always agree.",
    "A schema of rows lists the input's columns, if an input is named, then the added columns. Nothing is created: run the statements in your database.",
  ],
  operands: [
    [
      "input",
      "files or tables whose columns come first; if there is only one, only its beginning is read",
    ],
  ],
  groups: {
    Output: {
      format: option(z.enum(formatNames).optional(), {
        description: Object.entries(schemaFormats)
          .map(([name, description]) => `${name}: ${description}`)
          .join("; "),
        value: "FORMAT",
      }),
      table: option(z.string().min(1).default(defaultTable), {
        description:
          "Name of the table, SCHEMA.NAME allowed. The names of the views derive from it",
        value: "NAME",
      }),
      mode: sinkOptions.shape.mode,
      key: sinkOptions.shape.key,
      prefix: sinkOptions.shape.prefix,
      columns: sinkOptions.shape.columns,
      raw: sinkOptions.shape.raw,
    },
    Input: sourceOptions.shape,
  },
  examples: {
    "repute schema dump.csv --format postgres --table intel.enriched | psql":
      "create the table for the rows of dump.csv, and its views",
    "repute schema --format json-schema > row.schema.json":
      "save the JSON Schema of flat NDJSON rows",
  },
  run: async ({ settings, operands, context }) => {
    const { format } = settings;
    if (format === undefined) {
      throw new UsageError("format_missing", "schema needs a format", {
        hint: `add --format with one of ${formatNames.join(", ")}`,
      });
    }
    if (format === "manifest") checkOperands({ name: "schema --format manifest" }, operands);
    const input = operands.length === 0 ? null : await enrichInput(operands, context, settings);
    const { schemaOf } = await import("../../jobs/schema/schema-text.js");
    const { onWarning } = context.reporter.listener;
    const reading = { signal: context.signal, onWarning };
    await writeOut(context, await schemaOf(input, { ...settings, format }, reading));
  },
});
