import { z } from "zod";
import { apiOptions } from "../../api/options.js";
import { option } from "../../core/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { defineCommand } from "../command.js";
import { exitCodes, interruptedExitCodes } from "../exit-code.js";

const { intelUrl, apiKeyFile } = apiOptions.shape;
const { rate, concurrency, cache } = lookupOptions.shape;

const groups = {
  Answers: {
    intelUrl,
    apiKeyFile,
    rate: option(rate, {
      description: "Maximum requests per second, minute, hour or day [default 100/s]",
      value: "N/s",
      repeats: true,
    }),
    concurrency: option(concurrency, { description: "Most requests open at once", value: "N" }),
    cache: option(cache, {
      description: "Folder that keeps answers for later runs, or none [default ~/.cache/repute]",
      value: "DIR",
    }),
  },
  Options: {
    yes: option(z.boolean().default(false), {
      description: "Ask nothing: use the default where no flag is given",
      alias: "y",
    }),
    force: option(z.boolean().default(false), { description: "Replace an existing config file" }),
  },
};

/** Writes a first config file. */
export const initCommand = defineCommand({
  name: "init",
  usage: "[FILE] [flags]",
  summary: "ask a few questions and write a first config file",
  description: [
    "Asks for the address of the service, where the API key comes from, the rate, the concurrency and a cache folder. Enter takes the default in brackets. A flag answers its question in advance.",
    "The file is readable by you alone and never holds the API key: keep that in REPUTE_API_KEY, or in a file named with --api-key-file.",
    "Without a terminal, or with --yes, nothing is asked; the address must then come from --intel-url or REPUTE_INTEL_URL.",
  ],
  operands: [
    [
      "FILE",
      "where to write: .yaml or .yml [default $XDG_CONFIG_HOME/repute/config.yaml, or ~/.config/repute/config.yaml]",
    ],
  ],
  groups,
  examples: {
    "repute init": "answer questions, and write ~/.config/repute/config.yaml",
    "repute init --yes --intel-url https://intel.example/beta": "ask nothing, as in a script",
    "repute init ./repute.yaml --yes --intel-url https://intel.example/beta --rate 50/s":
      "write a file for --config",
    "repute init --force": "replace the config file",
  },
  exitCodes: [
    ["0", "written"],
    ["1", "the file cannot be written"],
    ["2", "wrong usage, an answer is missing, or the file exists"],
    ...interruptedExitCodes,
  ],
  run: async (call) => {
    const { writeFirstConfig } = await import("../setup/first-config.js");
    await writeFirstConfig(call);
    return exitCodes.done;
  },
});
