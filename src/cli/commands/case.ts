import { caseCallGroups, opsCallGroups } from "../services/call-options.js";
import { defineCommand } from "../command.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { readCase } from "../services/read-case.js";
import { askService } from "../services/with-client.js";
import { showRecord } from "../terminal/show-record.js";

/** What all commands of a case have in common. */
export const ofCase = {
  operands: [["ID", "identifier of the case"]],
  onlyOperand: { what: "the identifier of a case" },
} as const;

/** One reputation-share case (interface: Reputation-share case). */
export const caseShowCommand = defineCommand({
  ...ofCase,
  name: "case show",
  usage: "ID [flags]",
  summary: "show a reputation-share case",
  description: [
    "Prints one reputation-share case as one JSON object; field by field on a terminal.",
    "A token is sent when one is configured; whether this endpoint wants one is not documented.",
  ],
  groups: opsCallGroups,
  examples: {
    "repute case show case-2001 --local": "shows a case of the embedded service",
    "repute case show 4711 --ops-url https://ops.example": "asks the operations interface",
    "repute case show 4711 --json":
      "prints JSON on a terminal too; the address comes from REPUTE_OPS_URL",
    "repute case show 4711 | jq -r '.event_ips[]'": "takes the addresses of its events",
  },
  exitCodes: callExitCodes,
  run: async (call) => {
    const found = await askService("ops", call, (client) =>
      readCase(client, call.operand, call.context),
    );
    await showRecord(call, found);
    return exitCodes.done;
  },
});

/** The context of a case (interface: Case context). */
export const caseContextCommand = defineCommand({
  ...ofCase,
  name: "case context",
  usage: "ID [flags]",
  summary: "show the context of a case, which payloads are filled in from",
  description: [
    "Prints the context of a case as one JSON object. On a terminal each field stands under the path by which a webhook's payload names it: s.resolver_data.CustomerEmail is written {{ s.resolver_data.CustomerEmail }} there.",
  ],
  groups: caseCallGroups,
  examples: {
    "repute case context case-2001 --local": "shows a context of the embedded service",
    "repute case context 4711 --case-url https://cases.example --case-api-key-file ~/.repute/case-key":
      "asks the case management instance",
    "repute case context 4711 | jq .s.resolver_data":
      "takes the subscriber's data; the address comes from REPUTE_CASE_URL, the key from REPUTE_CASE_API_KEY",
    "repute case context 4711 > context.json":
      "keeps it, for repute webhook check --context context.json",
  },
  exitCodes: callExitCodes,
  run: async (call) => {
    const { signal } = call.context;
    const found = await askService("case", call, (client) =>
      client.context(call.operand, { signal }),
    );
    await showRecord(call, found);
    return exitCodes.done;
  },
});
