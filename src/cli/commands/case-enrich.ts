import { z } from "zod";
import { apiOptions, opsOptions } from "../../api/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { runOptions } from "../../pipeline/options.js";
import { sinkOptions } from "../../outputs/options.js";
import { detectSinkFormat } from "../../formats/registry.js";
import { findWarehouse } from "../../outputs/warehouse/registry.js";
import { sourceOptions } from "../../inputs/options.js";
import type { CaseRowsFormat } from "../run/case-rows.js";
import { cliOptions } from "../options/cli-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { runEnrichJob } from "../run/enrich-job.js";
import { jobExitCodes, runGroups } from "../run/run-help.js";
import { oneOperand } from "../options/operands.js";
import { readCase } from "../services/read-case.js";
import { withServices } from "../services/services.js";

const options = z.strictObject({
  ...opsOptions.shape,
  ...runOptions.shape,
  ...sinkOptions.shape,
  ...lookupOptions.shape,
  ...apiOptions.shape,
  ...cliOptions.shape,
});

type Settings = z.output<typeof options>;

/** The main job over the addresses of a case. */
export const caseEnrichCommand = defineCommand({
  name: "case enrich",
  usage: "ID [-o OUT] [flags]",
  summary: "look up the addresses of a case, with the fields of the case beside them",
  description: [
    "Reads a reputation-share case and does with the addresses of its events what repute enrich does with the rows of a file: each becomes a row with the address as ip, the fields of the case, and what was found.",
  ],
  operands: [["ID", "identifier of the case"]],
  options,
  groups: [
    runGroups.output,
    {
      title: "Services",
      keys: ["opsUrl", "accessTokenFile", "intelUrl", "apiKeyFile", "local", "timeout"],
    },
    runGroups.lookups,
    runGroups.run,
  ],
  examples: [
    {
      command: "repute case enrich case-2001 --local",
      what: "rehearses with the embedded service and writes CSV to stdout",
    },
    {
      command:
        "repute case enrich 4711 -o case.csv --ops-url https://ops.example --intel-url https://intel.example/beta",
      what: "reads the case at one address and looks its addresses up at the other",
    },
    {
      command: "repute case enrich 4711 -o case.ndjson --lookups query",
      what: "asks the query alone; the addresses come from REPUTE_OPS_URL and REPUTE_INTEL_URL",
    },
    {
      command: "repute case enrich 4711 -o case.csv --resume",
      what: "goes on where an interrupted run stopped, if the case is still the same",
    },
  ],
  exitCodes: jobExitCodes(),
  run: enrichCase,
});

async function enrichCase(call: CommandCall<Settings>): Promise<number> {
  const id = oneOperand("case enrich", "the identifier of a case", call.operands);
  const { opsUrl: _opsUrl, accessTokenFile: _accessTokenFile, ...settings } = call.settings;
  return withServices(["ops", "intel"], call, async ({ ops, intel }) => {
    const found = await readCase(call, ops, id);
    if ((found.event_ips ?? []).length === 0) {
      const events = found.event_count ?? 0;
      call.context.reporter.warning(
        `case ${found.id} has no addresses (event_ips), so there is nothing to look up${events > 0 ? `, although it counts ${events} events` : ""}`,
      );
    }
    const { caseItemColumn, caseRows } = await import("../run/case-rows.js");
    const format = rowsFormat(settings);
    const { input, version } = caseRows(found, format);
    const from = format.startsWith("csv") ? ("csv" as const) : ("ndjson" as const);
    const reading = { ...sourceOptions.parse({}), from, itemColumn: caseItemColumn };
    const service = intel.embedded ? "the embedded service" : intel.url;
    const { context, shownCommand } = call;
    const job = { context, shownCommand, settings: { ...settings, ...reading } };
    return runEnrichJob(job, intel, {
      input,
      // A stream cannot be known again, so that the case stands here: a run is resumed with the
      // rows that it was begun with, or not at all.
      serviceName: `${service}, for case ${found.id} as of ${version}`,
    });
  });
}

/** Nested output keeps what the interface does not have; flat output has a header that never changes. */
function rowsFormat({
  to,
  output,
  shape,
  formulaGuard,
}: Pick<Settings, "to" | "output" | "shape" | "formulaGuard">): CaseRowsFormat {
  // A table takes what was received; no spreadsheet opens it.
  if (output !== "-" && findWarehouse(output) !== null) return "csv";
  const format = to ?? (output === "-" ? null : detectSinkFormat(output).format);
  if (format === null || format === "csv" || format === "tsv") {
    return formulaGuard ? "csv, guarded" : "csv";
  }
  if (format !== "ndjson") return "ndjson, all";
  return shape === "flat" ? "ndjson" : "ndjson, all";
}
