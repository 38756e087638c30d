import { apiOptions } from "../../api/options.js";
import { option } from "../../core/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { sinkOptions } from "../../outputs/options.js";
import { defineCommand } from "../command.js";
import { exitCodes, interruptedExitCodes } from "../exit-code.js";
import { cliOptions } from "../options/option-spec.js";

const { intelUrl, apiKeyFile, timeout } = apiOptions.shape;
const { rate, rateQuery, rateQuickCheck, cache, pace } = lookupOptions.shape;
const { local, config, profile } = cliOptions.shape;

const groups = {
  Service: { intelUrl, local, apiKeyFile, timeout },
  Run: {
    rate,
    rateQuery,
    rateQuickCheck,
    pace,
    cache,
    output: option(sinkOptions.shape.output, {
      description: "Output of the run: the disk of its folder is checked",
      value: "OUT",
      alias: "o",
    }),
    json: option(cliOptions.shape.json, { description: "All checks as one JSON object" }),
    config,
    profile,
  },
};

/** Checks what a run depends on. */
export const doctorCommand = defineCommand({
  name: "doctor",
  usage: "[flags]",
  summary: "check address, key, TLS, clock, disk, cache and pace",
  description: [
    "Checks what a run depends on and prints a line for each: ok, warn or fail, what was found, and what to do. Give it the flags of the run; the config file and variables count as they do for a run.",
    "The service gets one request, a quick check of 192.0.2.1, which counts against its quotas. Secrets are never printed.",
  ],
  operands: [],
  groups,
  examples: {
    "repute doctor": "check the service and this machine",
    "repute doctor --local": "check this machine with the embedded service",
    "repute doctor --profile nightly -o /data/enriched.csv": "check what a nightly run would use",
    "repute doctor --json | jq '.checks[] | select(.status != \"ok\")'":
      "list what needs attention",
  },
  exitCodes: [
    ["0", "nothing failed; there may be warnings"],
    ["1", "something failed"],
    ["2", "wrong usage or configuration"],
    ...interruptedExitCodes,
  ],
  run: async (call) => {
    const { runChecks } = await import("../setup/run-checks.js");
    return (await runChecks(call)) ? exitCodes.done : exitCodes.stopped;
  },
});
