import type { Session } from "../../client/session/session.js";
import { opsOptions } from "../../client/api/options.js";
import type { RepShareCase } from "../../client/api/calls.js";
import { sourceOptions } from "../../io/formats/source-options.js";
import { defineCommand, quotaCode } from "../command.js";
import { caseCallGroups, printAnswer, withSession } from "../sessions.js";
import { cliOptions } from "../options/cli-options.js";
import type { CliContext } from "../terminal/cli-context.js";
import { readExclusions } from "../../core/exclusions/read-exclusions.js";
import { runEnrichJob, jobExitCodes, runGroups } from "./runs/enrich-job.js";

const { local } = cliOptions.shape;
const opsCallGroups = { ...caseCallGroups, Service: { ...opsOptions.shape, local } };

export const customersCommand = defineCommand({
  name: "customers",
  summary: "list customers and their tenants",
  description: [
    "Prints every customer of the operations interface, one JSON object per line, page by page. On a terminal it prints a table.",
    "Exits with 1 if the list cannot be read to its end or a page cursor repeats. Customers read so far are printed.",
  ],
  groups: opsCallGroups,
  examples: {
    "repute customers --local": "list the customers of the embedded service",
    "repute customers --ops-url https://ops.example --access-token-file ~/.repute/ops-token":
      "query the operations interface",
  },
  exitCodes: quotaCode,
  run: (call) =>
    printAnswer(
      "ops",
      call,
      async (session) => (await session.ops()).customers({ signal: call.context.signal }),
      { customer: "customer_id", tenant: "tenant_id" },
    ),
});

const caseOperand = {
  operand: ["ID", "identifier of the case"],
} as const;

export const caseShowCommand = defineCommand({
  ...caseOperand,
  name: "case show",
  summary: "show a reputation-share case",
  description: [
    "Prints one reputation-share case as one JSON object. On a terminal it prints one field per line.",
    "If an access token is configured, it is sent.",
  ],
  groups: opsCallGroups,
  examples: {
    "repute case show case-2001 --local": "show a case of the embedded service",
    "repute case show 4711 --ops-url https://ops.example": "query the operations interface",
  },
  exitCodes: quotaCode,
  run: (call) =>
    printAnswer("ops", call, (session) => readCase(session, call.operand, call.context)),
});

export const caseContextCommand = defineCommand({
  ...caseOperand,
  name: "case context",
  summary: "show the context of a case, which fills in webhook payloads",
  description: [
    "Prints the context of a case as one JSON object. On a terminal it prints one field per line, with the path that a webhook payload uses: s.resolver_data.CustomerEmail for {{ s.resolver_data.CustomerEmail }}.",
  ],
  groups: caseCallGroups,
  examples: {
    "repute case context case-2001 --local": "show a context of the embedded service",
    "repute case context 4711 --case-url https://cases.example --case-api-key-file ~/.repute/case-key":
      "query the case management instance",
  },
  exitCodes: quotaCode,
  run: (call) =>
    printAnswer("case", call, async (session) =>
      (await session.cases()).context(call.operand, { signal: call.context.signal }),
    ),
});

export const caseEnrichCommand = defineCommand({
  ...caseOperand,
  name: "case enrich",
  isJob: true,
  usage: "ID [-o OUT] [flags]",
  summary: "enrich the IP addresses of a case",
  description: [
    "Reads a reputation-share case and enriches the IP addresses of its events like repute enrich. Each row has the address as ip, the fields of the case, and the answer.",
  ],
  groups: { ...runGroups, Service: { ...opsOptions.shape, ...runGroups.Service } },
  examples: {
    "repute case enrich case-2001 --local":
      "try it with the embedded service, writing CSV to stdout",
    "repute case enrich 4711 -o case.csv --ops-url https://ops.example --intel-url https://intel.example/beta":
      "read the case from one service and look up its addresses with the other",
  },
  exitCodes: jobExitCodes,
  run: async (call) => {
    const { opsUrl: _opsUrl, accessTokenFile: _accessTokenFile, ...settings } = call.settings;
    // A list that cannot be read stops the command before it asks for the case.
    await readExclusions(settings.exclude ?? []);
    return withSession("ops", call, async (ops) =>
      withSession("intel", call, async (intel) => {
        const found = await readCase(ops, call.operand, call.context);
        if ((found.event_ips ?? []).length === 0) {
          call.context.reporter.warning(
            `case ${found.id} has no addresses (event_ips), so there is nothing to look up`,
          );
        }
        const { caseRows } = await import("../../jobs/enrich/rows/case-rows.js");
        const { input, ...read } = caseRows(found, settings);
        const reading = { ...sourceOptions.parse({}), ...read };
        const minRows = { ...settings.minRows, mayBeEmpty: true as const };
        return runEnrichJob(
          { ...call, settings: { ...settings, ...reading, minRows } },
          intel,
          input,
        );
      }),
    );
  },
});

/**
 * Reads one reputation-share case from the operations interface. A different identifier in the answer is
 * only a warning, since an identifier may have several spellings.
 */
async function readCase(
  session: Session,
  id: string,
  { signal, reporter }: CliContext,
): Promise<RepShareCase> {
  const found = await (await session.ops()).repShareCase(id, { signal });
  if (found.id.toLowerCase() !== id.trim().toLowerCase()) {
    const [asked, answered] = [id, found.id].map((name) => JSON.stringify(name));
    reporter.warning(`asked for case ${asked}, the service answered with case ${answered}`);
  }
  return found;
}
