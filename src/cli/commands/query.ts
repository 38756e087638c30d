import { apiOptions } from "../../api/options.js";
import { option } from "../../core/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { runOptions } from "../../pipeline/options.js";
import { defineCommand } from "../command.js";
import { commonExitCodes, interruptedExitCodes, quotaExitCodes } from "../exit-code.js";
import { cliOptions } from "../options/option-spec.js";

const { intelUrl, timeout, apiKeyFile } = apiOptions.shape;
const { concurrency, rate, retries, partialRetries } = lookupOptions.shape;
const { local, synthetic, config, profile } = cliOptions.shape;

const quickCheckGroups = {
  Service: { intelUrl, local, synthetic, timeout, apiKeyFile },
  Lookups: { concurrency, rate, retries },
  Run: {
    failOn: runOptions.shape.failOn,
    json: option(cliOptions.shape.json, { description: "JSON lines on a terminal too" }),
    config,
    profile,
  },
};

/** What both commands have in common. */
const ofItems = {
  usage: "ITEM... [flags]",
  operands: [
    [
      "ITEM",
      "IP address, domain, URL, SHA1, wallet or e-mail address, defanged or not; - reads one a line from stdin",
    ],
  ],
  exitCodes: [
    ...commonExitCodes,
    ["3", "done, but lookups failed (with --fail-on also partial or invalid ones, or none)"],
    ...quotaExitCodes,
    ...interruptedExitCodes,
  ],
} as const;

/** One-off lookups of the full result. */
export const queryCommand = defineCommand({
  ...ofItems,
  name: "query",
  summary: "look up single items in full",
  description: [
    "Looks up each item in full and prints one JSON object a line, in the order of the arguments; a table on a terminal.",
  ],
  groups: { ...quickCheckGroups, Lookups: { concurrency, rate, retries, partialRetries } },
  examples: {
    "repute query 192.0.2.1 example.com --local":
      "shows what the embedded service knows of an address and a domain",
    "repute query 'hxxps[:]//example[.]com/a' --intel-url https://intel.example/beta":
      "asks the service for a defanged URL",
    "repute query --json 192.0.2.1 | jq .query.tags":
      "takes the tags from the answer; the address comes from REPUTE_INTEL_URL",
    "cut -f1 suspects.tsv | repute query - > answers.ndjson": "reads items from a pipe, one a line",
  },
  run: async (call) => {
    const { runOneOff } = await import("../one-off/run-one-off.js");
    return runOneOff(call, {
      endpoint: "query",
      columns: [
        ["item", "item"],
        ["kind", "kind"],
        ["status", "status"],
        ["verdict", "verdict"],
        ["blocklist", "mail_blocklist"],
        ["bogon", "bogon"],
        ["tags", "tags"],
        ["error", "error_code"],
      ],
    });
  },
});

/** One-off lookups of the reduced verdict. */
export const quickCheckCommand = defineCommand({
  ...ofItems,
  name: "quick-check",
  summary: "look up the reduced verdict on single items",
  description: [
    "Asks for the reduced verdict on each item (blocklist status, intent, activity) and prints one JSON object a line, in the order of the arguments; a table on a terminal.",
  ],
  groups: quickCheckGroups,
  examples: {
    "repute quick-check 192.0.2.1 2001:db8::1 --local":
      "shows the verdicts of the embedded service",
    "repute quick-check example.com --intel-url https://intel.example/beta": "asks the service",
    "repute quick-check user@example.com --json":
      "prints JSON on a terminal too; the address comes from REPUTE_INTEL_URL",
    "grep -o '[0-9.]*' auth.log | sort -u | repute quick-check -":
      "reads items from a pipe, one a line",
  },
  run: async (call) => {
    const { runOneOff } = await import("../one-off/run-one-off.js");
    return runOneOff(call, {
      endpoint: "quick-check",
      columns: [
        ["item", "item"],
        ["kind", "kind"],
        ["status", "status"],
        ["verdict", "verdict"],
        ["blocklist", "quick_mail_blocklist"],
        ["bogon", "quick_bogon"],
        ["activity", "quick_activity"],
        ["error", "error_code"],
      ],
    });
  },
});
