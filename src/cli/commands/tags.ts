import { z } from "zod";
import type { TagSummary } from "../../api/schema/tag.js";
import { option } from "../../core/options.js";
import { intelCallGroups } from "../services/call-options.js";
import { defineCommand } from "../command.js";
import { dataOutput } from "../terminal/data-output.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { showRecord } from "../terminal/show-record.js";
import { askService } from "../services/with-client.js";

/** What all commands of one tag have in common. */
export const ofTag = {
  usage: "NAME [flags]",
  operands: [["NAME", "name of the tag, <group>:<name>"]],
  onlyOperand: { what: "the name of a tag", hint: "repute tags list names them all" },
} as const;

/** What to say of an answer for another tag; null when it is for the one that was asked for. */
export function otherTag(asked: string, answered: string): string | null {
  if (asked === answered) return null;
  return `asked for tag ${JSON.stringify(asked)}, the service answered for ${JSON.stringify(answered)}`;
}

/** Every tag that the service has (facts: `GET /tags`). */
export const tagsListCommand = defineCommand({
  name: "tags list",
  usage: "[flags]",
  summary: "list all tags",
  description: [
    "Prints every tag with its intent and category, one JSON object a line; a table on a terminal.",
    "The specification does not show this endpoint, but the deployed service is known to have it.",
  ],
  operands: [],
  groups: {
    Output: {
      descriptions: option(z.boolean().default(false), {
        description: "Ask for the description of each tag, too",
      }),
    },
    ...intelCallGroups,
  },
  examples: {
    "repute tags list --local": "lists the tags of the embedded service",
    "repute tags list --intel-url https://intel.example/beta": "asks the service",
    "repute tags list --descriptions --json":
      "with descriptions, as JSON on a terminal too; the address comes from REPUTE_INTEL_URL",
    "repute tags list | jq -r 'select(.intent == \"malicious\").name'":
      "takes the names of the malicious ones",
  },
  exitCodes: callExitCodes,
  run: async (call) => {
    const { settings, context } = call;
    const tags = await askService("intel", call, (client) =>
      client.tags({ includeDescriptions: settings.descriptions, signal: context.signal }),
    );
    const output = dataOutput<TagSummary>(call, [
      ["name", ({ name }) => name],
      ["intent", ({ intent }) => intent ?? ""],
      ["category", ({ category }) => category ?? ""],
      ["description", ({ description }) => description ?? ""],
    ]);
    for (const tag of tags) await output.add(tag);
    await output.end();
    return exitCodes.done;
  },
});

/** What one tag means (interface: Tag). */
export const tagsShowCommand = defineCommand({
  ...ofTag,
  name: "tags show",
  summary: "show what a tag means",
  description: [
    "Prints one tag with its description, references and timeline as one JSON object; field by field on a terminal.",
  ],
  groups: intelCallGroups,
  examples: {
    "repute tags show credentials:brute-force --local": "shows a tag of the embedded service",
    "repute tags show credentials:brute-force --intel-url https://intel.example/beta":
      "asks the service",
    "repute tags show credentials:brute-force --json":
      "prints JSON on a terminal too; the address comes from REPUTE_INTEL_URL",
    "repute tags show credentials:brute-force | jq -r '.references[].url'":
      "takes the addresses of further reading",
  },
  exitCodes: callExitCodes,
  run: async (call) => {
    const { operand: name, context } = call;
    const tag = await askService("intel", call, (client) =>
      client.tag(name, { signal: context.signal }),
    );
    const warning = otherTag(name, tag.name);
    if (warning !== null) context.reporter.warning(warning);
    await showRecord(call, tag);
    return exitCodes.done;
  },
});
