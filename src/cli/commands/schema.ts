import { z } from "zod";
import { UsageError } from "../../core/errors.js";
import { option } from "../../core/options.js";
import { sourceOptions } from "../../inputs/open-input.js";
import { sinkOptions } from "../../outputs/options.js";
import type {
  SchemaFormat as TableFormat,
  SchemaTextOptions,
} from "../../outputs/warehouse/ddl.js";
import { defaultTable } from "../../outputs/warehouse/dialect.js";
import { type CommandCall, defineCommand, noOperands, type SettingsOf } from "../command.js";
import { exitCodes } from "../exit-code.js";
import { cliOptions } from "../options/option-spec.js";
import { enrichInput } from "../run/enrich-job.js";
import { writeText } from "../terminal/data-output.js";

const { from, itemColumn, header, comment } = sourceOptions.shape;

/** What `repute schema` can print. */
const schemaFormats = {
  openapi: "the interface of the service, as an OpenAPI 3.1 document",
  "json-schema": "a row of NDJSON output, as JSON Schema",
  postgres: "the table and its view of the newest rows, for PostgreSQL",
  duckdb: "the same for DuckDB",
  bigquery: "the same for BigQuery",
} as const satisfies Readonly<Record<"openapi" | TableFormat, string>>;

const formatNames = Object.keys(schemaFormats) as (keyof typeof schemaFormats)[];

const groups = {
  Output: {
    format: option(z.enum(formatNames).optional(), {
      description: Object.entries(schemaFormats)
        .map(([name, description]) => `${name}: ${description}`)
        .join("; "),
      value: "FORMAT",
    }),
    table: option(z.string().min(1).default(defaultTable), {
      description: "Name of the table, SCHEMA.NAME allowed; the view's name is made from it",
      value: "NAME",
    }),
    prefix: sinkOptions.shape.prefix,
    config: cliOptions.shape.config,
    profile: cliOptions.shape.profile,
  },
  Input: { from, itemColumn, header, comment },
};

/** The schemas that the program goes by. */
export const schemaCommand = defineCommand({
  name: "schema",
  usage: "[input] --format FORMAT",
  summary: "print the schema of the rows, for a database or as JSON Schema, or of the interface",
  description: [
    "Prints a schema to stdout. It is made from the same definitions that the program writes rows and checks answers with, so that it cannot tell anything else.",
    "Of rows it tells the columns that are added; where an input is named, its own columns stand before them, as enrich would write them. Nothing is created: give the statements to the database.",
  ],
  operands: [
    ["input", "file whose columns come before the added ones; only its beginning is read"],
  ],
  groups,
  examples: {
    "repute schema dump.csv --format postgres --table intel.enriched | psql":
      "makes the table that rows of dump.csv need, and the view of the newest ones",
    "repute schema --format json-schema > row.schema.json":
      "keeps the JSON Schema of NDJSON rows, for other tools",
    "repute schema dump.csv --format bigquery --table project.intel.enriched":
      "prints the statements for BigQuery",
    "repute schema --format openapi | jq '.paths | keys'": "lists the endpoints of the interface",
  },
  exitCodes: [
    ["0", "printed"],
    ["1", "the input cannot be read"],
    ["2", "wrong usage or configuration"],
  ],
  run: printSchema,
});

type Call = CommandCall<SettingsOf<typeof groups>>;

async function printSchema(call: Call): Promise<number> {
  const { format, prefix, table } = call.settings;
  if (format === undefined) {
    throw new UsageError("format_missing", "schema needs a format", {
      hint: `give one with --format: ${formatNames.join(", ")}`,
    });
  }
  if (format === "openapi") noOperands(`schema --format ${format}`, call.operands);
  const inputColumns = call.operands.length === 0 ? [] : await columnsOf(call);
  await writeText(call.context, await textOf(format, { inputColumns, prefix, table }));
  return exitCodes.done;
}

/** The schema's text, with a line end at the end. */
async function textOf(
  format: keyof typeof schemaFormats,
  options: SchemaTextOptions,
): Promise<string> {
  if (format === "openapi") {
    const { openApiDocument } = await import("../../api/openapi.js");
    return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
  }
  const { schemaText } = await import("../../outputs/warehouse/ddl.js");
  return schemaText(format, options);
}

/** The columns of an input as a run would find them. */
async function columnsOf({ operands, settings, context }: Call): Promise<readonly string[]> {
  const { readingOf } = await import("../../pipeline/run/reading.js");
  const reading = readingOf(enrichInput(operands, context), settings);
  const source = await reading.open(null);
  await source.close();
  return source.columns;
}
