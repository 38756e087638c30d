import type { z } from "zod";
import { callGroups, opsCallOptions } from "../services/call-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { oneOperand } from "../options/operands.js";
import { readCase } from "../services/read-case.js";
import { withServices } from "../services/services.js";
import { showRecord } from "../terminal/show-record.js";

/** One reputation-share case (interface: Reputation-share case). */
export const caseShowCommand = defineCommand({
  name: "case show",
  usage: "ID [flags]",
  summary: "show a reputation-share case",
  description: [
    "Prints one reputation-share case as one JSON object; field by field on a terminal.",
    "A token is sent when one is configured; whether this endpoint wants one is not documented.",
  ],
  operands: [["ID", "identifier of the case"]],
  options: opsCallOptions,
  groups: [callGroups.ops, callGroups.requests, callGroups.run],
  examples: [
    { command: "repute case show case-2001 --local", what: "shows a case of the embedded service" },
    {
      command: "repute case show 4711 --ops-url https://ops.example",
      what: "asks the operations interface",
    },
    {
      command: "repute case show 4711 --json",
      what: "prints JSON on a terminal too; the address comes from REPUTE_OPS_URL",
    },
    {
      command: "repute case show 4711 | jq -r '.event_ips[]'",
      what: "takes the addresses of its events",
    },
  ],
  exitCodes: callExitCodes,
  run: showCase,
});

async function showCase(call: CommandCall<z.output<typeof opsCallOptions>>): Promise<number> {
  const id = oneOperand("case show", "the identifier of a case", call.operands);
  const found = await withServices(["ops"], call, ({ ops }) => readCase(call, ops, id));
  await showRecord(call, found);
  return exitCodes.done;
}
