import { z } from "zod";
import type { TagSummary } from "../../../api/schema/tag.js";
import { option } from "../../../core/options.js";
import { intelCallGroups } from "../../services/call-options.js";
import { defineCommand } from "../../command.js";
import { printRecords, showRecord } from "../../terminal/data-output.js";
import { callExitCodes, exitCodes } from "../../exit-code.js";
import { askService } from "../../services/services.js";
import { assertTag } from "../../../tags/read-tag.js";

export const ofTag = {
  usage: "NAME [flags]",
  operands: [["NAME", "name of the tag, <group>:<name>"]],
  operandCount: "one",
} as const;

export const tagsListCommand = defineCommand({
  name: "tags list",
  usage: "[flags]",
  summary: "list all tags",
  description: [
    "Prints every tag with its intent and category, one JSON object per line. On a terminal it prints a table.",
    "The endpoint is not in the public specification, but the deployed service has it.",
  ],
  operands: [],
  groups: {
    Output: {
      descriptions: option(z.boolean().default(false), {
        description: "Also print the description of each tag",
      }),
    },
    ...intelCallGroups,
  },
  examples: {
    "repute tags list --local": "list the tags of the embedded service",
    "repute tags list | jq -r 'select(.intent == \"malicious\").name'":
      "print the names of malicious tags",
  },
  exitCodes: callExitCodes,
  run: async (call) => {
    const { settings, context } = call;
    const tags = await askService("intel", call, (client) =>
      client.tags({ includeDescriptions: settings.descriptions, signal: context.signal }),
    );
    await printRecords<TagSummary>(call, tags, [
      ["name", ({ name }) => name],
      ["intent", ({ intent }) => intent ?? ""],
      ["category", ({ category }) => category ?? ""],
      ["description", ({ description }) => description ?? ""],
    ]);
    return exitCodes.done;
  },
});

export const tagsShowCommand = defineCommand({
  ...ofTag,
  name: "tags show",
  summary: "show the description and references of a tag",
  description: [
    "Prints one tag with its description, references and timeline as one JSON object. On a terminal it prints one field per line.",
  ],
  groups: intelCallGroups,
  examples: {
    "repute tags show credentials:brute-force --local": "show a tag of the embedded service",
    "repute tags show credentials:brute-force | jq -r '.references[].url'":
      "print the URLs of its references",
  },
  exitCodes: callExitCodes,
  run: async (call) => {
    const { operand: name, context } = call;
    const tag = await askService("intel", call, (client) =>
      client.tag(name, { signal: context.signal }),
    );
    assertTag(name, tag.name);
    await showRecord(call, tag);
    return exitCodes.done;
  },
});
