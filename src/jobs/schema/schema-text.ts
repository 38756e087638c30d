import { z } from "zod";
import { addedColumns, schemaVersion } from "../../core/columns.js";
import { UsageError } from "../../core/errors.js";
import { findingStatuses, verdicts } from "../../core/finding.js";
import { itemKinds } from "../../core/item/item.js";
import { manifestSchema } from "../../core/manifest.js";
import { temporaryFolder } from "../../core/resource-stack.js";
import { columnTypes, storedType, type StoredType } from "../../io/formats/column-types.js";
import { addedColumnNames } from "../../io/formats/columns/name-columns.js";
import { memberNames } from "../../io/formats/ndjson/ndjson-output.js";
import type { RunInput } from "../../io/input/types.js";
import type { SinkSettings } from "../../io/output/options.js";
import { dialects } from "../../io/output/registry.js";
import { createRunsTable, createTable } from "../../io/output/sql/prepare-table.js";
import { viewsOf } from "../../io/output/sql/views.js";
import {
  tableSchema,
  type TableSchemaOptions,
  textWarnings,
} from "../../io/output/typed/table-schema.js";
import { inputReading } from "../enrich/rows/reading.js";
import type { ReadingSettings } from "../enrich/types.js";

interface SchemaTextOptions extends TableSchemaOptions {
  /** `table` or `schema.table`; for BigQuery also `project.dataset.table`. Only for databases. */
  readonly table: string;
}

type SchemaSettings = ReadingSettings &
  Omit<SchemaTextOptions, "columns" | "types" | "optional"> &
  Pick<SinkSettings, "raw" | "columns"> & { readonly format: string };

/**
 * A schema in the format of `repute schema`: of manifests, or of the rows that a run makes of an input.
 *
 * @param input null for rows without columns of their own
 */
export async function schemaOf(
  input: RunInput | null,
  { format, raw, columns: only, ...settings }: SchemaSettings,
  reading: { readonly signal: AbortSignal; readonly onWarning: (message: string) => void },
): Promise<string> {
  if (format === "manifest") {
    const title = `Manifest of repute, schema version ${schemaVersion}`;
    const description = "Record of a run: OUT.manifest.json, and what --json prints";
    const schema = z.toJSONSchema(manifestSchema.meta({ title, description }));
    return `${JSON.stringify(schema, null, 2)}\n`;
  }
  const own = input === null ? { columns: [] } : await columnsOf(input, settings, reading.signal);
  const dialect = dialects.find(({ name }) => name === format);
  const lacking = dialect === undefined ? [] : textWarnings(dialect.rules, own);
  for (const message of lacking) reading.onWarning(message);
  const column = [settings.itemColumn ?? []].flat().length > 1;
  const optional = { file: input !== null && "inputs" in input, column, raw, only };
  return schemaText(format, { ...settings, ...own, optional });
}

/** The columns that a run would read from an input. */
async function columnsOf(input: RunInput, settings: ReadingSettings, signal: AbortSignal) {
  if ("path" in input && input.table !== undefined) return input.table.copy(null, { signal });
  await using folder = await temporaryFolder();
  const rows = inputReading(input, settings);
  const copied = rows.copied?.({ folder: folder.path, shape: "cells", signal });
  await copied?.make(null);
  const source = await (copied ?? rows).open(null);
  await source.close();
  return source;
}

/**
 * Describes the enriched table: SQL statements for a database, or a JSON Schema for rows of flat
 * NDJSON. Ends with a line feed.
 */
export function schemaText(format: string, options: SchemaTextOptions): string {
  const dialect = dialects.find(({ name }) => name === format);
  if (dialect === undefined) return `${JSON.stringify(jsonSchema(options), null, 2)}\n`;
  const { maxColumns } = dialect;
  const table = dialect.parseTable(options.table);
  const schema = tableSchema(dialect.rules, options);
  if (schema.columns.length > maxColumns) {
    const message = `the table would have ${schema.columns.length} columns; ${format} allows ${maxColumns}`;
    throw new UsageError("too_many_columns", message, { hint: "remove columns from the input" });
  }
  const views = viewsOf(dialect, table, schema).map(
    ({ about, create }) => `${about.map((line) => `-- ${line}\n`).join("")}${create}`,
  );
  const tables = [createTable(dialect, table, schema), createRunsTable(dialect, table)];
  return `${[...tables, ...views].join("\n\n")}\n`;
}

type Schema = Readonly<Record<string, unknown>>;

/** JSON Schema (2020-12) of a row of NDJSON output with `--shape flat`. */
function jsonSchema(options: TableSchemaOptions): Schema {
  const { columns: inputColumns, types = [], prefix, optional = {} } = options;
  const columns = addedColumns(optional);
  const names = addedColumnNames(prefix, inputColumns, columns);
  // NDJSON input keeps the types of its values, as tables do; other inputs have only text.
  const input = Object.fromEntries(
    memberNames(inputColumns).map((name, index) => [
      name,
      { description: "Input column, unchanged", ...inputSchema(types[index]?.type ?? null) },
    ]),
  );
  const added = Object.fromEntries(
    columns.map((column, index) => [
      names[index],
      {
        description: column.description,
        ...(words[column.name] ?? columnTypes[column.type].jsonSchema),
      },
    ]),
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `Row enriched by repute, schema version ${schemaVersion}`,
    type: "object",
    properties: { ...input, ...added },
    required: names,
  };
}

function inputSchema(type: StoredType | null): Schema {
  if (type === null) return {};
  const schema = storedType(type).jsonSchema;
  const { type: types } = schema;
  // JSON has no infinite numbers: they are texts.
  const isNumber = Array.isArray(types) && types.includes("number");
  return isNumber ? { ...schema, type: [...(types as readonly string[]), "string"] } : schema;
}

const words: Readonly<Record<string, Schema>> = {
  kind: { enum: [...itemKinds, null] },
  status: { enum: findingStatuses },
  verdict: { enum: [...verdicts, null] },
};
