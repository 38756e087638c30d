import { opsOptions } from "../../../api/options.js";
import { detectSinkFormat } from "../../../formats/registry.js";
import { findWarehouse } from "../../../outputs/registry.js";
import { sourceOptions } from "../../../inputs/source-options.js";
import type { CaseRowsFormat } from "./case-rows.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { runEnrichJob } from "../enrich/enrich-job.js";
import { jobExitCodes, runGroups } from "../enrich/job-options.js";
import { withClient, withServices } from "../../services/services.js";
import { ofCase, readCase } from "./show.js";

const groups = { ...runGroups, Service: { ...opsOptions.shape, ...runGroups.Service } };

type Settings = SettingsOf<typeof groups>;

export const caseEnrichCommand = defineCommand({
  ...ofCase,
  name: "case enrich",
  isJob: true,
  usage: "ID [-o OUT] [flags]",
  summary: "enrich the IP addresses of a case",
  description: [
    "Reads a reputation-share case and enriches the IP addresses of its events like repute enrich. Each row has the address as ip, the fields of the case, and the answer.",
  ],
  groups,
  examples: {
    "repute case enrich case-2001 --local":
      "try it with the embedded service, writing CSV to stdout",
    "repute case enrich 4711 -o case.csv --ops-url https://ops.example --intel-url https://intel.example/beta":
      "read the case from one service and look up its addresses with the other",
    "repute case enrich 4711 -o case.csv --resume":
      "continue an interrupted run, if the case has not changed",
  },
  exitCodes: jobExitCodes(),
  run: enrichCase,
});

async function enrichCase(call: CommandCall<Settings>): Promise<number> {
  const { opsUrl: _opsUrl, accessTokenFile: _accessTokenFile, ...settings } = call.settings;
  return withServices(["ops", "intel"], call, async ({ ops, intel }) => {
    const found = await withClient("ops", ops, call, (client) =>
      readCase(client, call.operand, call.context),
    );
    if ((found.event_ips ?? []).length === 0) {
      const events = found.event_count ?? 0;
      call.context.reporter.warning(
        `case ${found.id} has no addresses (event_ips), so there is nothing to look up${events > 0 ? `, although it counts ${events} events` : ""}`,
      );
    }
    const { caseItemColumn, caseRows } = await import("./case-rows.js");
    const format = rowsFormat(settings);
    const input = caseRows(found, format);
    const from = format.startsWith("csv") ? ("csv" as const) : ("ndjson" as const);
    const reading = { ...sourceOptions.parse({}), from, itemColumn: caseItemColumn };
    return runEnrichJob({ ...call, settings: { ...settings, ...reading } }, intel, input);
  });
}

/** Nested output keeps undocumented members; the header of flat output is fixed. */
function rowsFormat({
  to,
  output,
  shape,
  formulaGuard,
}: Pick<Settings, "to" | "output" | "shape" | "formulaGuard">): CaseRowsFormat {
  // No spreadsheet opens a database table, so cells need no guard.
  if (output !== "-" && findWarehouse(output) !== null) return "csv";
  const format = to ?? (output === "-" ? null : detectSinkFormat(output).format);
  if (format === null || format === "csv" || format === "tsv") {
    return formulaGuard ? "csv, guarded" : "csv";
  }
  if (format !== "ndjson") return "ndjson, all";
  return shape === "flat" ? "ndjson" : "ndjson, all";
}
