import { z } from "zod";
import { option } from "../core/options.js";
import { sinkFormats } from "../formats/registry.js";

/** Options for writing the output. */
export const sinkOptions = z.strictObject({
  to: option(z.enum(sinkFormats).optional(), {
    common: true,
    description:
      "Format of the output; by default from the file's extension, else that of the input (ndjson for ndjson, csv otherwise). ecs, ocsf and stix are shapes for security platforms, written only when named here",
    value: "FORMAT",
  }),
  rejects: option(z.string().min(1).optional(), {
    common: true,
    description:
      "Also write the rows that became neither complete nor partial to this file, in the input's own form and with the reason, so that it can be run again",
    value: "PATH",
  }),
  prefix: option(
    z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_]{0,31}$/, "must begin with a letter; letters, digits and _ only")
      .default("rep_"),
    { description: "What the names of the added columns begin with", value: "TEXT" },
  ),
  shape: option(z.enum(["flat", "nested"]).optional(), {
    description:
      "NDJSON output: nested adds one member with everything as received, flat adds the columns; default nested",
    value: "SHAPE",
  }),
  formulaGuard: option(z.boolean().default(true), {
    description:
      "Neutralise added CSV cells that a spreadsheet would run as a formula; --no-formula-guard leaves them as received",
  }),
});

export type SinkSettings = z.output<typeof sinkOptions>;
