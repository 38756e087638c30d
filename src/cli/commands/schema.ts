import { z } from "zod";
import { UsageError } from "../../core/errors.js";
import { schemaVersion } from "../../core/columns.js";
import { manifestSchema } from "../../core/manifest.js";
import { option } from "../../core/options.js";
import { scratchFolder, withResources } from "../../core/resource-stack.js";
import { sourceOptions } from "../../io/input/source-options.js";
import { sinkOptions } from "../../io/output/options.js";
import { dialects } from "../../io/output/registry.js";
import type { SchemaTextOptions } from "../../jobs/schema/schema-text.js";
import { defaultTable } from "../../io/output/sql/dialect.js";
import { type CommandCall, defineCommand, noOperands, type SettingsOf } from "../command.js";
import { enrichInput } from "./runs/enrich-job.js";
import { writeOut } from "../terminal/data-output.js";

const schemaFormats = {
  manifest: "the record of a run, as JSON Schema",
  "json-schema": "a row of NDJSON output, as JSON Schema",
  ...Object.fromEntries(dialects.map(({ name, about }) => [name, about])),
};

const formatNames = Object.keys(schemaFormats);

const groups = {
  Output: {
    format: option(z.enum(formatNames).optional(), {
      description: Object.entries(schemaFormats)
        .map(([name, description]) => `${name}: ${description}`)
        .join("; "),
      value: "FORMAT",
    }),
    table: option(z.string().min(1).default(defaultTable), {
      description: "Name of the table, SCHEMA.NAME allowed. The names of the views derive from it",
      value: "NAME",
    }),
    mode: sinkOptions.shape.mode,
    key: sinkOptions.shape.key,
    prefix: sinkOptions.shape.prefix,
    columns: sinkOptions.shape.columns,
    raw: sinkOptions.shape.raw,
  },
  Input: sourceOptions.shape,
};

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
  groups,
  examples: {
    "repute schema dump.csv --format postgres --table intel.enriched | psql":
      "create the table for the rows of dump.csv, and its views",
    "repute schema --format json-schema > row.schema.json": "save the JSON Schema of NDJSON rows",
  },
  run: printSchema,
});

type Call = CommandCall<SettingsOf<typeof groups>>;

async function printSchema(call: Call): Promise<void> {
  const { format, mode, key, prefix, raw, columns: only, table } = call.settings;
  if (format === undefined) {
    throw new UsageError("format_missing", "schema needs a format", {
      hint: `add --format with one of ${formatNames.join(", ")}`,
    });
  }
  if (format === "manifest") noOperands("schema --format manifest", call.operands);
  const { file, ...input } =
    call.operands.length === 0 ? { columns: [], file: false } : await columnsOf(call);
  const optional = { file, raw, only };
  const dialect = dialects.find(({ name }) => name === format);
  if (dialect !== undefined) {
    const { textWarnings } = await import("../../io/output/typed/table-schema.js");
    for (const message of textWarnings(dialect.rules, input))
      call.context.reporter.warning(message);
  }
  await writeOut(
    call.context,
    await textOf(format, { ...input, prefix, optional, table, mode, key }),
  );
}

async function textOf(format: string, options: SchemaTextOptions): Promise<string> {
  if (format === "manifest") {
    const title = `Manifest of repute, schema version ${schemaVersion}`;
    const description = "Record of a run: OUT.manifest.json, and what --json prints";
    const schema = z.toJSONSchema(manifestSchema.meta({ title, description }));
    return `${JSON.stringify(schema, null, 2)}\n`;
  }
  const { schemaText } = await import("../../jobs/schema/schema-text.js");
  return schemaText(format, options);
}

/** The columns that a run would read from the input. */
async function columnsOf({
  operands,
  settings,
  context,
}: Call): Promise<Pick<SchemaTextOptions, "columns" | "types"> & { file: boolean }> {
  const input = await enrichInput(operands, context, settings);
  const { signal } = context;
  const table = "path" in input ? input.table : undefined;
  if (table !== undefined) {
    const { columns, types } = await table.copy(null, { signal });
    return { columns, types, file: false };
  }
  const { inputReading } = await import("../../jobs/enrich/rows/reading.js");
  const columns = await withResources(async (stack) => {
    const rows = inputReading(input, settings);
    const place = { folder: await scratchFolder(stack), shape: "cells", signal } as const;
    const copied = rows.copied?.(place);
    await copied?.make(false);
    const source = await (copied ?? rows).open(null);
    await source.close();
    return { columns: source.columns, types: source.types };
  });
  return { ...columns, file: "inputs" in input };
}
