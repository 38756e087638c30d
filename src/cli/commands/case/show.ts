import type { OpsClient } from "../../../api/ops-client.js";
import type { RepShareCase } from "../../../api/schema/operations.js";
import { caseCallGroups, opsCallGroups } from "../../services/call-options.js";
import { defineCommand } from "../../command.js";
import { callExitCodes, exitCodes } from "../../exit-code.js";
import { askService } from "../../services/services.js";
import type { CliContext } from "../../terminal/cli-context.js";
import { showRecord } from "../../terminal/data-output.js";

export const ofCase = {
  operands: [["ID", "identifier of the case"]],
  operandCount: "one",
} as const;

export const caseShowCommand = defineCommand({
  ...ofCase,
  name: "case show",
  usage: "ID [flags]",
  summary: "show a reputation-share case",
  description: [
    "Prints one reputation-share case as one JSON object. On a terminal it prints one field per line.",
    "If an access token is configured, it is sent.",
  ],
  groups: opsCallGroups,
  examples: {
    "repute case show case-2001 --local": "show a case of the embedded service",
    "repute case show 4711 --ops-url https://ops.example": "query the operations interface",
    "repute case show 4711 | jq -r '.event_ips[]'": "print the IP addresses of its events",
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

export const caseContextCommand = defineCommand({
  ...ofCase,
  name: "case context",
  usage: "ID [flags]",
  summary: "show the context of a case, which fills in webhook payloads",
  description: [
    "Prints the context of a case as one JSON object. On a terminal it prints one field per line, with the path that a webhook payload uses: s.resolver_data.CustomerEmail for {{ s.resolver_data.CustomerEmail }}.",
  ],
  groups: caseCallGroups,
  examples: {
    "repute case context case-2001 --local": "show a context of the embedded service",
    "repute case context 4711 --case-url https://cases.example --case-api-key-file ~/.repute/case-key":
      "query the case management instance",
    "repute case context 4711 > context.json":
      "save it for repute webhook check --context context.json",
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

/**
 * Reads one reputation-share case from the operations interface. A different identifier in the answer is
 * only a warning, since an identifier may have several spellings.
 */
export async function readCase(
  client: OpsClient,
  id: string,
  { signal, reporter }: CliContext,
): Promise<RepShareCase> {
  const found = await client.repShareCase(id, { signal });
  if (found.id.toLowerCase() !== id.trim().toLowerCase()) {
    const [asked, answered] = [id, found.id].map((name) => JSON.stringify(name));
    reporter.warning(`asked for case ${asked}, the service answered with case ${answered}`);
  }
  return found;
}
