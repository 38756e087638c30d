import { z } from "zod";
import { UsageError } from "../../core/errors.js";
import { option } from "../../core/options.js";
import { cliOptions } from "../cli-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { writeText } from "../data-output.js";
import { exitCodes } from "../exit-code.js";
import { noOperands } from "../operands.js";
import { schemaFormatNames, schemaFormats } from "../schema-formats.js";

const options = z.strictObject({
  format: option(z.enum(schemaFormatNames).optional(), {
    description: Object.entries(schemaFormats)
      .map(([name, { description }]) => `${name}: ${description}`)
      .join("; "),
    value: "FORMAT",
  }),
  config: cliOptions.shape.config,
});

/** The schemas that the program goes by. */
export const schemaCommand = defineCommand({
  name: "schema",
  usage: "--format FORMAT",
  summary: "print the schema of the interface",
  description: [
    "Prints a schema to stdout. It is made from the same definitions that the program checks answers with, so that it cannot tell anything else.",
  ],
  operands: [],
  options,
  groups: [{ title: "Output", keys: ["format", "config"] }],
  examples: [
    { command: "repute schema --format openapi", what: "prints the interface as OpenAPI 3.1" },
    {
      command: "repute schema --format openapi > openapi.json",
      what: "keeps it in a file, for other tools",
    },
    {
      command: "repute schema --format openapi | jq '.paths | keys'",
      what: "lists the endpoints",
    },
    {
      command: "repute schema --format openapi | jq .components.schemas.IpResult",
      what: "takes the schema of one kind of result",
    },
  ],
  exitCodes: [
    ["0", "printed"],
    ["2", "wrong usage or configuration"],
  ],
  run: printSchema,
});

async function printSchema({
  settings,
  operands,
  context,
}: CommandCall<z.output<typeof options>>): Promise<number> {
  noOperands("schema", operands);
  const { format } = settings;
  if (format === undefined) {
    throw new UsageError("format_missing", "schema needs a format", {
      hint: `give one with --format: ${schemaFormatNames.join(", ")}`,
    });
  }
  await writeText(context, await schemaFormats[format].print());
  return exitCodes.done;
}
