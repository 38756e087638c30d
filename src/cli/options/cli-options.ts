import { z } from "zod";
import { option } from "../../core/options.js";

/** Options that belong to the program rather than to one of its components. */
export const cliOptions = z.strictObject({
  local: option(z.boolean().default(false), {
    description:
      "Answer from the embedded service and its sample dataset, started for this run; nothing leaves the machine",
  }),
  json: option(z.boolean().default(false), {
    description: "The summary as one JSON object: on stdout when OUT is a file, else on stderr",
  }),
  quiet: option(z.boolean().default(false), {
    description: "No progress line and no summary; warnings and errors remain",
    alias: "q",
  }),
  config: option(z.string().min(1).optional(), {
    description: "JSON file with settings; its keys are the flags' names without the dashes",
    value: "FILE",
  }),
});
