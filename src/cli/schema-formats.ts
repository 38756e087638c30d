/** Something that `repute schema` prints. */
export interface SchemaFormat {
  /** What it describes, as the help says it. */
  readonly description: string;
  /** Its text, with a line end at the end. Loads what it needs when it is called. */
  readonly print: () => Promise<string>;
}

/** What `repute schema` can print; another one is one line here. */
export const schemaFormats = {
  openapi: {
    description: "the interface of the service, as an OpenAPI 3.1 document",
    print: async () => {
      const { openApiDocument } = await import("../api/openapi.js");
      return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
    },
  },
} as const satisfies Readonly<Record<string, SchemaFormat>>;

export type SchemaFormatName = keyof typeof schemaFormats;

export const schemaFormatNames = Object.keys(schemaFormats) as [
  SchemaFormatName,
  ...SchemaFormatName[],
];
