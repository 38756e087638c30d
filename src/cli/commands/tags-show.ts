import type { z } from "zod";
import { callGroups, intelCallOptions } from "../services/call-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { oneOperand } from "../options/operands.js";
import { withServices } from "../services/services.js";
import { showRecord } from "../terminal/show-record.js";
import { withIntelClient } from "../services/with-client.js";

/** What one tag means (interface: Tag). */
export const tagsShowCommand = defineCommand({
  name: "tags show",
  usage: "NAME [flags]",
  summary: "show what a tag means",
  description: [
    "Prints one tag with its description, references and timeline as one JSON object; field by field on a terminal.",
  ],
  operands: [["NAME", "name of the tag, <group>:<name>"]],
  options: intelCallOptions,
  groups: [callGroups.intel, callGroups.requests, callGroups.run],
  examples: [
    {
      command: "repute tags show credentials:brute-force --local",
      what: "shows a tag of the embedded service",
    },
    {
      command: "repute tags show credentials:brute-force --intel-url https://intel.example/beta",
      what: "asks the service",
    },
    {
      command: "repute tags show credentials:brute-force --json",
      what: "prints JSON on a terminal too; the address comes from REPUTE_INTEL_URL",
    },
    {
      command: "repute tags show credentials:brute-force | jq -r '.references[].url'",
      what: "takes the addresses of further reading",
    },
  ],
  exitCodes: callExitCodes,
  run: showTag,
});

async function showTag(call: CommandCall<z.output<typeof intelCallOptions>>): Promise<number> {
  const { context } = call;
  const name = oneOperand(
    "tags show",
    "the name of a tag",
    call.operands,
    "repute tags list names them all",
  );
  const tag = await withServices(["intel"], call, ({ intel }) =>
    withIntelClient(intel, call, (client) => client.tag(name, { signal: context.signal })),
  );
  if (tag.name !== name) {
    const [asked, answered] = [name, tag.name].map((each) => JSON.stringify(each));
    context.reporter.warning(`asked for tag ${asked}, the service answered for ${answered}`);
  }
  await showRecord(call, tag);
  return exitCodes.done;
}
