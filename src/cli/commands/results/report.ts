import { z } from "zod";
import { option } from "../../../core/options.js";
import { printableData } from "../../../core/wording/printable.js";
import { readPrefix } from "../../../io/output/options.js";
import { parseOutput } from "../../../io/output/registry.js";
import { runOptions } from "../../../jobs/enrich/options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { cliOptions } from "../../options/cli-options.js";
import { writeOut } from "../../terminal/data-output.js";

const { against, quiet } = cliOptions.shape;

const groups = {
  Options: {
    output: option(z.string().min(1).optional(), {
      description: "Page to write, an HTML file; without it the report is printed as text",
      value: "REPORT.html",
      alias: "o",
    }),
    against,
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
  },
  run: report,
});

async function report(call: CommandCall<SettingsOf<typeof groups>>): Promise<void> {
  const { context, settings, operand } = call;
  const { signal, reporter } = context;
  const { parsePage, reportOf, writeReportPage } =
    await import("../../../jobs/report/make-report.js");
  const page = settings.output === undefined ? null : parsePage(settings.output);
  const { onNotice } = reporter.listener;
  const made = await reportOf(parseOutput(operand, "read"), { ...settings, signal, onNotice });
  if (page === null) {
    const { reportText } = await import("../../../jobs/report/text.js");
    return writeOut(context, printableData(reportText(made, context.stdout.columns || 80)));
  }
  await writeReportPage(page, made);
  const { headline } = await import("../../../jobs/report/contents.js");
  reporter.notice(`${headline(made)} ${page.given}`);
}
