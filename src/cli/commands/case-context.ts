import type { z } from "zod";
import { callGroups, caseCallOptions } from "../services/call-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { oneOperand } from "../options/operands.js";
import { readCaseContext } from "../services/read-case.js";
import { withServices } from "../services/services.js";
import { showRecord } from "../terminal/show-record.js";

/** The context of a case (interface: Case context). */
export const caseContextCommand = defineCommand({
  name: "case context",
  usage: "ID [flags]",
  summary: "show the context of a case, which payloads are filled in from",
  description: [
    "Prints the context of a case as one JSON object. On a terminal each field stands under the path by which a webhook's payload names it: s.resolver_data.CustomerEmail is written {{ s.resolver_data.CustomerEmail }} there.",
  ],
  operands: [["ID", "identifier of the case"]],
  options: caseCallOptions,
  groups: [callGroups.case, callGroups.requests, callGroups.run],
  examples: [
    {
      command: "repute case context case-2001 --local",
      what: "shows a context of the embedded service",
    },
    {
      command:
        "repute case context 4711 --case-url https://cases.example --case-api-key-file ~/.repute/case-key",
      what: "asks the case management instance",
    },
    {
      command: "repute case context 4711 | jq .s.resolver_data",
      what: "takes the subscriber's data; the address comes from REPUTE_CASE_URL, the key from REPUTE_CASE_API_KEY",
    },
    {
      command: "repute case context 4711 > context.json",
      what: "keeps it, for repute webhook check --context context.json",
    },
  ],
  exitCodes: callExitCodes,
  run: showContext,
});

async function showContext(call: CommandCall<z.output<typeof caseCallOptions>>): Promise<number> {
  const id = oneOperand("case context", "the identifier of a case", call.operands);
  const found = await withServices(["case"], call, (services) =>
    readCaseContext(call, services.case, id),
  );
  await showRecord(call, found);
  return exitCodes.done;
}
