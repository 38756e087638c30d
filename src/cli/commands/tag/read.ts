import { z } from "zod";
import type { TagIps, TagSummary } from "../../../client/api/calls.js";
import { ServiceError } from "../../../client/api/status-fault.js";
import { FatalError } from "../../../core/errors.js";
import { option } from "../../../core/options.js";
import { intelCallGroups, printAnswer, withSession } from "../../sessions.js";
import { defineCommand, quotaCode } from "../../command.js";
import { wantsLines, writeOut } from "../../terminal/data-output.js";
import { printable } from "../../../core/wording/printable.js";
import { TagExportError } from "../../../jobs/tags/options.js";
import { readList } from "../../../jobs/tags/export-tag.js";

const ofTag = {
  operand: ["NAME", "name of the tag, <group>:<name>"],
} as const;

export const tagsListCommand = defineCommand({
  name: "tags list",
  summary: "list all tags",
  description: [
    "Prints every tag with its intent and category, one JSON object per line. On a terminal it prints a table.",
    "The endpoint is not in the public specification, but the deployed service has it.",
  ],
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
  exitCodes: quotaCode,
  run: (call) => {
    const { settings, context } = call;
    const asked = { includeDescriptions: settings.descriptions, signal: context.signal };
    return printAnswer<TagSummary>(
      "intel",
      call,
      async (session) => (await session.intel()).tags(asked),
      { name: "name", intent: "intent", category: "category", description: "description" },
    );
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
  exitCodes: quotaCode,
  run: (call) => {
    const { operand: name, context } = call;
    return printAnswer("intel", call, async (session) => {
      return (await session.intel()).tag(name, { signal: context.signal });
    });
  },
});

export const tagsIpsCommand = defineCommand({
  ...ofTag,
  name: "tags ips",
  summary: "print the IP addresses of a tag",
  description: [
    "Prints every address of a tag's list page by page, all from the same snapshot. The list is as the service has it: tags export leaves out reserved addresses and those on exclusion lists. In a pipe each address is a JSON object with tag, ip and snapshot; on a terminal it is the address alone.",
    "Exits with 1 if the list changes while it is read, if an entry is not an IP address or occurs twice, or if the number of entries differs from the reported total.",
  ],
  groups: {
    ...intelCallGroups,
    Run: {
      json: intelCallGroups.Run.json,
      plain: option(z.boolean().default(false), {
        description: "Print one address per line, even in a pipe",
      }),
    },
  },
  examples: {
    "repute tags ips credentials:brute-force --intel-url https://intel.example/beta":
      "query the service, 10,000 addresses per page",
    "repute tags ips credentials:brute-force --plain > ips.txt":
      "write the addresses to a file; REPUTE_INTEL_URL holds the service's address",
  },
  exitCodes: quotaCode,
  /** Prints every page. After the first, errors say that the printed list is incomplete. */
  run: async (call) => {
    const { settings, context, operand: name } = call;
    const text = wantsLines(call) && !settings.plain ? linesOf : plainOf;
    let isBegun = false;
    await withSession("intel", call, async (session) => {
      try {
        await readList(await session.intel(), name, context.signal, async (page) => {
          isBegun ||= page.entries.length > 0;
          await writeOut(context, text(page));
        });
      } catch (error) {
        const isFault = error instanceof ServiceError || error instanceof TagExportError;
        if (!isFault || !isBegun) throw error;
        const hint = "the printed list is incomplete; run the command again";
        throw new FatalError(error.code, error.message, { cause: error, hint });
      }
    });
  },
});

function linesOf({ tag, entries, snapshot }: TagIps): string {
  // One write per page: one per line would be far slower.
  return entries.map((ip) => `${JSON.stringify({ tag, ip, snapshot })}\n`).join("");
}

function plainOf({ entries }: TagIps): string {
  return printable(entries.map((ip) => `${ip}\n`).join(""));
}
