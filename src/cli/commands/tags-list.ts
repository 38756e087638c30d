import { z } from "zod";
import type { TagSummary } from "../../api/schema/tag.js";
import { option } from "../../core/options.js";
import { callGroups, intelCallOptions } from "../services/call-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { dataTable, jsonLines, wantsLines } from "../terminal/data-output.js";
import type { DataColumns } from "../terminal/data-output.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { noOperands } from "../options/operands.js";
import { withServices } from "../services/services.js";
import { withIntelClient } from "../services/with-client.js";

const options = z.strictObject({
  ...intelCallOptions.shape,
  descriptions: option(z.boolean().default(false), {
    description: "Ask for the description of each tag, too",
  }),
});

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
  options,
  groups: [
    { title: "Output", keys: ["descriptions"] },
    callGroups.intel,
    callGroups.requests,
    callGroups.run,
  ],
  examples: [
    { command: "repute tags list --local", what: "lists the tags of the embedded service" },
    {
      command: "repute tags list --intel-url https://intel.example/beta",
      what: "asks the service",
    },
    {
      command: "repute tags list --descriptions --json",
      what: "with descriptions, as JSON on a terminal too; the address comes from REPUTE_INTEL_URL",
    },
    {
      command: "repute tags list | jq -r 'select(.intent == \"malicious\").name'",
      what: "takes the names of the malicious ones",
    },
  ],
  exitCodes: callExitCodes,
  run: listTags,
});

async function listTags(call: CommandCall<z.output<typeof options>>): Promise<number> {
  const { settings, context } = call;
  noOperands("tags list", call.operands);
  const tags = await withServices(["intel"], call, ({ intel }) =>
    withIntelClient(intel, call, (client) =>
      client.tags({ includeDescriptions: settings.descriptions, signal: context.signal }),
    ),
  );
  const output = wantsLines(settings.json, context)
    ? jsonLines<TagSummary>(context, (tag) => JSON.stringify(tag))
    : dataTable(context, columns);
  for (const tag of tags) await output.add(tag);
  await output.end();
  return exitCodes.done;
}

const columns: DataColumns<TagSummary> = [
  ["name", ({ name }) => name],
  ["intent", ({ intent }) => intent ?? ""],
  ["category", ({ category }) => category ?? ""],
  ["description", ({ description }) => description ?? ""],
];
