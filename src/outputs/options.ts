import { z } from "zod";
import { option } from "../core/options.js";
import { sinkFormats } from "../formats/registry.js";

/** Options for writing the output. */
export const sinkOptions = z.strictObject({
  to: option(z.enum(sinkFormats).optional(), {
    common: true,
    description:
      "Format of the output [default by file extension, else ndjson for NDJSON input and csv otherwise]. ecs, ocsf, stix, es-bulk and splunk-hec are shapes for security platforms and are written only when named here",
    value: "FORMAT",
  }),
  rejects: option(z.string().min(1).optional(), {
    common: true,
    description:
      "Also write rows that are neither complete nor partial to this file. They keep the format of the input, plus the reason, so the file can be run again",
    value: "PATH",
  }),
  prefix: option(
    z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_]{0,31}$/, "must begin with a letter; letters, digits and _ only")
      .default("rep_"),
    { description: "Prefix of the added columns", value: "TEXT" },
  ),
  shape: option(z.enum(["flat", "nested"]).optional(), {
    description:
      "Shape of NDJSON output [default nested]. nested adds one member with the answer as received, flat adds the columns",
    value: "SHAPE",
  }),
  esIndex: option(
    z
      .string()
      .regex(
        /^(?![-_+.])[^A-Z\\/*?"<>| ,#:\x00-\x1f\x7f]{1,255}$/,
        'must be the name of an index: lower case, not beginning with - _ + or ., and without \\ / * ? " < > | , # : or spaces',
      )
      .optional(),
    {
      description:
        "Index named in every action line of --to es-bulk [default: none; the address of the _bulk request names it]",
      value: "NAME",
    },
  ),
  formulaGuard: option(z.boolean().default(true), {
    description:
      "Leave added CSV cells as received. By default cells that a spreadsheet would run as a formula are neutralised",
  }),
});

export type SinkSettings = z.output<typeof sinkOptions>;
