import { z } from "zod";
import { option } from "../../../core/options.js";
import { parseOutput } from "../../../io/output/registry.js";
import { runOptions } from "../../../jobs/enrich/options.js";
import { readPrefix } from "../../../io/output/options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { commonExitCodes } from "../../exit-code.js";
import { cliOptions } from "../../options/option-spec.js";

const { quiet } = cliOptions.shape;

const groups = {
  Options: {
    output: option(z.string().min(1).optional(), {
      description: "Page to write, an HTML file; without it the report is printed as text",
      value: "REPORT.html",
      alias: "o",
    }),
    against: option(z.string().min(1).optional(), {
      common: true,
      description:
        "Also show what changed since this earlier output, or since the previous one, if OUT has a date (2026-01-31) or run ID in its name",
      value: "EARLIER|previous",
    }),
    prefix: readPrefix,
    stateDir: runOptions.shape.stateDir,
    quiet,
  },
};

export const reportCommand = defineCommand({
  name: "report",
  usage: "OUT [-o REPORT.html] [flags]",
  summary: "summarise an output: verdicts, tags, networks, worst items",
  description: [
    "Reads an output and writes one HTML file that needs no network and no script: the result in a sentence, verdicts by kind, tags, networks, first and last seen, the worst items with their abuse contacts, why rows were not checked, and the run's requests and duration. Items are defanged. Without -o the same is printed as text.",
    "The output is read once; memory use does not grow with its size. Details of the run come from OUT.manifest.json.",
  ],
  operands: [
    ["OUT", "output of an earlier run: CSV, TSV, NDJSON, Parquet or a table; gzip is detected"],
  ],
  operandCount: "one",
  groups,
  examples: {
    "repute report enriched.csv -o report.html": "write a page to open in a browser or to mail",
    "repute report enriched.csv --against monday.csv -o report.html":
      "add what changed since Monday",
    "repute report nights/2026-01-02.csv --against previous":
      "add what changed since the newest earlier night in the same folder",
    "repute report 'duckdb:intel.duckdb?table=enriched' -o report.html":
      "report on the last run in a table",
  },
  exitCodes: commonExitCodes,
  run: report,
});

async function report(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { context, settings, operand } = call;
  const { checkReportName, makeReport, writeReportPage } = await import("./make-report.js");
  if (settings.output !== undefined) checkReportName(settings.output);
  const onNotice = (message: string): void => {
    if (!settings.quiet) context.reporter.print(`repute: ${message}`);
  };
  const { signal } = context;
  const made = await makeReport(parseOutput(operand, "read"), { ...settings, onNotice, signal });
  if (settings.output === undefined) {
    const { reportText } = await import("../../../jobs/report/text.js");
    const { printReport } = await import("../../terminal/colors.js");
    printReport(reportText(made, context.stdout.columns || 80), context);
    return 0;
  }
  await writeReportPage(settings.output, made);
  const { headline } = await import("../../../jobs/report/headline.js");
  if (!settings.quiet) context.reporter.print(`repute: ${headline(made)} ${settings.output}`);
  return 0;
}
