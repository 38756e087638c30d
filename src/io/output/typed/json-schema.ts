import {
  findingSources,
  findingStatuses,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
  verdicts,
} from "../../../core/finding.js";
import type { Column, ColumnType } from "../../../core/column.js";
import { addedColumns, type OptionalColumns, schemaVersion } from "../../../core/columns.js";
import { itemKinds } from "../../../core/item/item.js";
import { columnTypes, storedType } from "../../formats/column-types.js";
import type { InputType, StoredType } from "../../formats/typed-column.js";
import { addedColumnNames, addedMemberName } from "../../formats/columns/name-columns.js";
import { uniqueNames } from "../../formats/ndjson/ndjson.js";
import type { TableSchemaOptions } from "./table-schema.js";

type Schema = Readonly<Record<string, unknown>>;

/**
 * JSON Schema (2020-12) of a row of NDJSON output: `$defs.flat` for `--shape flat`, `$defs.nested`
 * for the default.
 */
export function jsonSchema({
  columns: inputColumns,
  types,
  prefix,
  optional = {},
}: TableSchemaOptions): Schema {
  const columns = addedColumns(optional);
  const names = addedColumnNames(prefix, inputColumns, columns);
  const member = addedMemberName(prefix, inputColumns);
  const input = inputProperties(inputColumns, types);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `Row enriched by repute, schema version ${schemaVersion}`,
    anyOf: [{ $ref: "#/$defs/nested" }, { $ref: "#/$defs/flat" }],
    $defs: {
      flat: {
        type: "object",
        properties: { ...input, ...flatProperties(names, columns) },
        required: names,
      },
      nested: {
        type: "object",
        properties: {
          ...input,
          [member]: nestedMemberOf(optional),
        },
        required: [member],
      },
    },
  };
}

/** NDJSON input keeps the types of its values, as tables do; other inputs have only text. */
function inputProperties(
  inputColumns: readonly string[],
  inputTypes: readonly InputType[] = [],
): Schema {
  return Object.fromEntries(
    uniqueNames(inputColumns).map((name, index) => [
      name,
      { description: "Input column, unchanged", ...inputSchema(inputTypes[index]?.type ?? null) },
    ]),
  );
}

function inputSchema(type: StoredType | null): Schema {
  if (type === null) return {};
  const schema = storedType(type).jsonSchema;
  const { type: types } = schema;
  // JSON has no infinite numbers: they are texts.
  const isNumber = Array.isArray(types) && types.includes("number");
  return isNumber ? { ...schema, type: [...(types as readonly string[]), "string"] } : schema;
}

function flatProperties(names: readonly string[], columns: readonly Column[]): Schema {
  return Object.fromEntries(
    columns.map((column, index) => [
      names[index],
      { description: column.description, ...flatType(column.name, column.type) },
    ]),
  );
}

function flatType(name: string, type: ColumnType): Schema {
  if (name === "status") return { enum: findingStatuses };
  if (name === "verdict") return { enum: [...verdicts, null] };
  if (name === "kind") return { enum: [...itemKinds, null] };
  return columnTypes[type].jsonSchema;
}

const alwaysThere: Schema = {
  item: columnTypes.text.jsonSchema,
  kind: { enum: [...itemKinds, null] },
  status: { enum: findingStatuses },
  verdict: { enum: [...verdicts, null] },
  missing: { type: "array", items: { type: "string" } },
  ...Object.fromEntries(
    lookupEndpoints.map((endpoint) => [memberOf(endpoint), resultOf(endpoint)]),
  ),
  source: { enum: [...findingSources, null] },
  http_status: columnTypes.count.jsonSchema,
  attempts: { type: "integer", minimum: 0 },
  looked_up_at: columnTypes.timestamp.jsonSchema,
  error: {
    type: ["object", "null"],
    properties: { code: { type: "string" }, message: { type: "string" } },
    required: ["code", "message"],
  },
};

function nestedMemberOf({ file, column }: OptionalColumns): Schema {
  const more = {
    ...(file === true ? named("file", "The file of the row, as named") : {}),
    ...(column === true ? named("column", "The item column of the row") : {}),
  };
  return {
    type: "object",
    properties: {
      ...alwaysThere,
      ...more,
      extra: { description: "Input values without a column; usually absent" },
    },
    required: Object.keys({ ...alwaysThere, ...more }),
  };
}

function named(name: string, description: string): Schema {
  return { [name]: { type: "string", description } };
}

function resultOf(endpoint: LookupEndpoint): Schema {
  const description = `Result of the ${endpoint.replaceAll("-", " ")}, as received`;
  return { type: ["object", "null"], description };
}
