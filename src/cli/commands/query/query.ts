import { lookupOptions } from "../../../client/lookup/options.js";
import { runOptions } from "../../../jobs/enrich/options.js";
import { defineCommand, quotaCode } from "../../command.js";
import { intelCallGroups, lookupGroups } from "../../services/services.js";

const quickCheckGroups = {
  ...lookupGroups,
  Run: { failOn: runOptions.shape.failOn, ...intelCallGroups.Run },
};

const ofItems = {
  usage: "ITEM... [flags]",
  operands: [
    [
      "ITEM",
      "IP address, domain, URL, SHA1, wallet or e-mail address, defanged or not; - reads stdin, one item per line",
    ],
  ],
  exitCodes: {
    3: "done, but lookups failed, or an argument is no item; --fail-on changes what counts",
    ...quotaCode,
  },
} as const;

export const queryCommand = defineCommand({
  ...ofItems,
  name: "query",
  summary: "look up items and print the full answers",
  description: [
    "Looks up each item and prints the full answer as one JSON object per line, in the order of the arguments. On a terminal it prints a card, or a table of several items.",
  ],
  groups: {
    ...quickCheckGroups,
    Pace: { ...lookupGroups.Pace, partialRetries: lookupOptions.shape.partialRetries },
  },
  examples: {
    "repute query 192.0.2.1 example.com --local":
      "look up an address and a domain with the embedded service",
    "repute query --json login.example.com | jq .query.tags":
      "extract the tags; REPUTE_INTEL_URL holds the service's address",
    "cut -f1 suspects.tsv | repute query - > answers.ndjson":
      "read items from a pipe, one per line",
  },
  run: async (call) => {
    const { runOneOff } = await import("./run-one-off.js");
    return runOneOff(call, "query", [
      ["blocklist", "mail_blocklist"],
      ["bogon", "bogon"],
      ["tags", "tags"],
    ]);
  },
});

export const quickCheckCommand = defineCommand({
  ...ofItems,
  name: "quick-check",
  summary: "look up items and print the short answers",
  description: [
    "Does a quick check of each item (blocklist status, intent, activity) and prints one JSON object per line, in the order of the arguments. On a terminal it prints a card, or a table of several items.",
  ],
  groups: quickCheckGroups,
  examples: {
    "repute quick-check 192.0.2.1 2001:db8::1 --local":
      "check two addresses with the embedded service",
    "repute quick-check example.com --intel-url https://intel.example/beta": "check a domain",
  },
  run: async (call) => {
    const { runOneOff } = await import("./run-one-off.js");
    return runOneOff(call, "quick-check", [
      ["blocklist", "quick_mail_blocklist"],
      ["bogon", "quick_bogon"],
      ["activity", "quick_activity"],
    ]);
  },
});
