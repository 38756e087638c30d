import { z } from "zod";
import type { IntelClient } from "../../api/intel-client.js";
import type { TagIps } from "../../api/schema/tag.js";
import { snapshotLength, tagIpsLimit } from "../../api/schema/vocabulary.js";
import { ServiceError } from "../../api/status-fault.js";
import { FatalError } from "../../core/errors.js";
import { option, wholeNumber } from "../../core/options.js";
import { intelCallGroups } from "../services/call-options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { wantsLines, writeText } from "../terminal/data-output.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { printable } from "../../core/printable.js";
import { askService } from "../services/with-client.js";
import { ofTag, otherTag } from "./tags.js";

const groups = {
  Page: {
    offset: option(wholeNumber(0).optional(), {
      description: "One page instead of the whole list: entries to pass over",
      value: "N",
    }),
    limit: option(wholeNumber(tagIpsLimit.min, tagIpsLimit.max).optional(), {
      description: `One page instead of the whole list: most entries, ${tagIpsLimit.min} to ${tagIpsLimit.max}`,
      value: "N",
    }),
    snapshot: option(
      z
        .string()
        .length(snapshotLength, `must have exactly ${snapshotLength} characters`)
        .optional(),
      {
        description:
          "One page instead of the whole list: from the dataset that this token of an earlier page fixes",
        value: "TOKEN",
      },
    ),
  },
  ...intelCallGroups,
};

/** The addresses of a tag, all from one snapshot (interface: Tag IP list). */
export const tagsIpsCommand = defineCommand({
  ...ofTag,
  name: "tags ips",
  summary: "print the IP addresses of a tag",
  description: [
    "Prints every address of a tag's list, page by page as they are read and all from the dataset of the first page: a list of millions takes no more memory than a short one. To a pipe each address is a JSON object with tag, ip and snapshot; on a terminal it stands alone.",
    "Ends with 1 when the list changes on the way or does not come to as many entries as the service says. With --offset, --limit or --snapshot one page is asked for.",
  ],
  groups,
  examples: {
    "repute tags ips credentials:brute-force --local": "prints a list of the embedded service",
    "repute tags ips credentials:brute-force --intel-url https://intel.example/beta":
      "asks the service, 10,000 addresses at a time",
    "repute tags ips credentials:brute-force | jq -r .ip | sort -u > ips.txt":
      "writes the bare addresses to a file; the address of the service comes from REPUTE_INTEL_URL",
    "repute tags ips credentials:brute-force --offset 100 --limit 50": "prints one page",
  },
  exitCodes: callExitCodes,
  run: printIps,
});

async function printIps(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { settings, context, operand: name } = call;
  const { offset, limit, snapshot } = settings;
  const text = wantsLines(settings.json, context) ? linesOf : plainOf;
  const one = offset !== undefined || limit !== undefined || snapshot !== undefined;
  await askService("intel", call, async (client) => {
    const { signal } = context;
    if (one) {
      const page = await client.tagIps(name, { offset, limit, snapshot, signal });
      assertTag(name, page);
      return writeText(context, text(page));
    }
    for await (const page of wholeList(client, name, signal)) {
      await writeText(context, text(page));
    }
  });
  return exitCodes.done;
}

/** Every page, and an error that tells how much of the list was printed before it. */
async function* wholeList(
  client: IntelClient,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<TagIps, void, undefined> {
  let entries = 0;
  let total = 0;
  try {
    for await (const page of client.iterateTagIps(name, { signal })) {
      assertTag(name, page);
      yield page;
      entries += page.entries.length;
      total = page.total;
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || entries === 0) throw error;
    throw new FatalError(error.code, error.message, { cause: error, hint: again });
  }
  if (entries === total) return;
  throw new FatalError(
    "list_incomplete",
    `the list of ${name} came to ${entries} entries; the service says that it has ${total}`,
    { hint: again },
  );
}

function assertTag(name: string, { tag }: TagIps): void {
  const fault = otherTag(name, tag);
  if (fault !== null) throw new FatalError("other_tag", fault);
}

const again = "what was printed is not the whole list; run it again";

function linesOf({ tag, entries, snapshot }: TagIps): string {
  // One page is one write: a line takes a fraction of a microsecond then.
  const [before, after] = [
    `{"tag":${JSON.stringify(tag)},"ip":`,
    `,"snapshot":${JSON.stringify(snapshot)}}\n`,
  ];
  return entries.map((ip) => before + JSON.stringify(ip) + after).join("");
}

function plainOf({ entries }: TagIps): string {
  return printable(entries.map((ip) => `${ip}\n`).join(""));
}
