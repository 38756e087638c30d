import type { SchemaFormat as TableFormat, SchemaTextOptions } from "../outputs/warehouse/ddl.js";

/** Something that `repute schema` prints. */
export interface SchemaFormat {
  /** What it describes, as the help says it. */
  readonly description: string;
  /** True when it describes rows, so that the columns of an input are part of it. */
  readonly ofRows: boolean;
  /** Its text, with a line end at the end. Loads what it needs when it is called. */
  readonly print: (options: SchemaTextOptions) => Promise<string>;
}

/** What `repute schema` can print; another one is one line here. */
export const schemaFormats = {
  openapi: {
    description: "the interface of the service, as an OpenAPI 3.1 document",
    ofRows: false,
    print: async () => {
      const { openApiDocument } = await import("../api/openapi.js");
      return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
    },
  },
  "json-schema": rows("json-schema", "a row of NDJSON output, as JSON Schema"),
  postgres: rows("postgres", "the table and its view of the newest rows, for PostgreSQL"),
  duckdb: rows("duckdb", "the same for DuckDB"),
  bigquery: rows("bigquery", "the same for BigQuery"),
} as const satisfies Readonly<Record<"openapi" | TableFormat, SchemaFormat>>;

export type SchemaFormatName = keyof typeof schemaFormats;

export const schemaFormatNames = Object.keys(schemaFormats) as [
  SchemaFormatName,
  ...SchemaFormatName[],
];

function rows(format: TableFormat, description: string): SchemaFormat {
  return {
    description,
    ofRows: true,
    print: async (options) => {
      const { schemaText } = await import("../outputs/warehouse/ddl.js");
      return schemaText(format, options);
    },
  };
}
