import { defineCommand } from "../command.js";
import { oneOffHelp, queryOptions, quickCheckOptions, runOneOff } from "../one-off/one-off.js";

/** One-off lookups of the full result. */
export const queryCommand = defineCommand({
  ...oneOffHelp,
  name: "query",
  summary: "look up single items in full",
  description: [
    "Looks up each item in full and prints one JSON object a line, in the order of the arguments; a table on a terminal.",
  ],
  options: queryOptions,
  groups: [
    { title: "Service", keys: ["intelUrl", "local", "timeout", "apiKeyFile"] },
    { title: "Lookups", keys: ["concurrency", "rate", "retries", "partialRetries"] },
    { title: "Run", keys: ["failOn", "json", "config"] },
  ],
  examples: [
    {
      command: "repute query 192.0.2.1 example.com --local",
      what: "shows what the embedded service knows of an address and a domain",
    },
    {
      command: "repute query 'hxxps[:]//example[.]com/a' --intel-url https://intel.example/beta",
      what: "asks the service for a defanged URL",
    },
    {
      command: "repute query --json 192.0.2.1 | jq .query.tags",
      what: "takes the tags from the answer; the address comes from REPUTE_INTEL_URL",
    },
    {
      command: "cut -f1 suspects.tsv | repute query - > answers.ndjson",
      what: "reads items from a pipe, one a line",
    },
  ],
  run: (call) =>
    runOneOff(call, {
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
    }),
});

/** One-off lookups of the reduced verdict. */
export const quickCheckCommand = defineCommand({
  ...oneOffHelp,
  name: "quick-check",
  summary: "look up the reduced verdict on single items",
  description: [
    "Asks for the reduced verdict on each item (blocklist status, intent, activity) and prints one JSON object a line, in the order of the arguments; a table on a terminal.",
  ],
  options: quickCheckOptions,
  groups: [
    { title: "Service", keys: ["intelUrl", "local", "timeout", "apiKeyFile"] },
    { title: "Lookups", keys: ["concurrency", "rate", "retries"] },
    { title: "Run", keys: ["failOn", "json", "config"] },
  ],
  examples: [
    {
      command: "repute quick-check 192.0.2.1 2001:db8::1 --local",
      what: "shows the verdicts of the embedded service",
    },
    {
      command: "repute quick-check example.com --intel-url https://intel.example/beta",
      what: "asks the service",
    },
    {
      command: "repute quick-check user@example.com --json",
      what: "prints JSON on a terminal too; the address comes from REPUTE_INTEL_URL",
    },
    {
      command: "grep -o '[0-9.]*' auth.log | sort -u | repute quick-check -",
      what: "reads items from a pipe, one a line",
    },
  ],
  run: (call) =>
    runOneOff(call, {
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
    }),
});
