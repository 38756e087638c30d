import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { abortable } from "../../../core/abort.js";
import { FatalError, UsageError, ReputeError } from "../../../core/errors.js";
import {
  checkRunWords,
  fileParts,
  hasRunWords,
  namedAfter,
  startOf,
} from "../../../core/files/output-names.js";
import { realPath } from "../../../core/files/folders.js";
import { shellWord } from "../../../core/wording/quantity.js";
import { writeTo } from "./write-lines.js";
import { isObjectAddress } from "../../../io/s3/address.js";
import type { Output } from "../../../io/output/output.js";
import { parseOutput } from "../../../io/output/registry.js";
import { checkFolder } from "../../../io/output/check-paths.js";
import { type FlatSettings, runOptions } from "../../../jobs/enrich/options.js";
import type { PublishedRun } from "../../../jobs/enrich/types.js";
import { mustChooseColumns, reportedColumns } from "../../../core/columns.js";
import {
  outputFile,
  type OutputReading,
  readOutput,
  refuseUnreadable,
} from "../../../io/output/read.js";
import { makeFolders } from "../../../jobs/enrich/destination/choose-output.js";
import {
  patternOf,
  faultOf,
  previousOutputs,
} from "../../../jobs/enrich/finish/previous-outputs.js";
import { type Changes, type Report, tallyReport } from "../../../jobs/report/report-tally.js";
import { redactAddress } from "../../../core/redaction.js";
import { z } from "zod";
import { option } from "../../../core/options.js";
import { readPrefix } from "../../../io/output/options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { cliOptions } from "../../options/cli-options.js";
import { writeOut } from "../../terminal/data-output.js";
import { printableData } from "../../../core/wording/printable.js";
import { compareOutputs, type Comparing } from "../../../jobs/diff/diff-outputs.js";

/** Value of `--against` for the newest earlier output. */
const previousWord = "previous";

function previousUnknown(output: string): UsageError {
  const message = `--against previous: the name ${redactAddress(output)} does not identify a run`;
  return new UsageError("previous_unknown", message, {
    hint: "put {date} or {run_id} into the name, such as -o 'nights/{date}.csv', or name the earlier output: --against FILE; for a table, --against 'duckdb:FILE?table=NAME&run=ID' (NAME_runs has the ids)",
  });
}

/** Writes a report page. It replaces an old one at once, so a reader never finds half a page. */
async function writeReportPage(path: string, report: Report): Promise<void> {
  const { reportPage } = await import("../../../jobs/report/page/page.js");
  await writeTo(parseOutput(path), [reportPage(report)]);
}

/** @throws UsageError `unknown_output` unless the name ends with .html or .htm */
function checkReportName(path: string): void {
  if (/\.html?$/i.test(path)) return;
  throw new UsageError("unknown_output", `${path} is not a page`, {
    hint: "a report is an HTML file: name it REPORT.html",
  });
}

/**
 * Checks before the run that its report can be made.
 *
 * @throws UsageError `against_needs_report`, `unknown_output`, `run_word`, `report_needs_file`,
 *   `report_cannot_read_shape`, `previous_unknown`, `against_is_output`, `input_not_found`,
 *   `output_folder_missing`
 */
export async function checkRunReport(settings: RunReportSettings): Promise<void> {
  const { report, output, to, columns, against } = settings;
  if (report === undefined) {
    throw new UsageError("against_needs_report", "--against needs --report", {
      hint: "add --report FILE, or compare two outputs with repute diff",
    });
  }
  checkReportName(report);
  checkRunWords("--report", fileParts(report));
  if (against !== undefined) checkAgainst(against, output);
  mustChooseColumns("the output", reportedColumns, columns);
  if (output.isStdout) {
    const message = "--report cannot read an output that goes to stdout";
    throw new UsageError("report_needs_file", message, {
      hint: "write the rows to a file with -o OUT",
    });
  }
  if (!isObjectAddress(report) && !hasRunWords(dirname(report))) {
    await checkFolder(realPath(report));
  }
  if (isObjectAddress(report)) {
    await (await import("../../../io/s3/objects.js")).checkObjectWritable(report);
  }
  if (output.publisher !== null) return;
  refuseUnreadable(output.given, to ?? outputFile(output, null).format);
}

/** Checks that an output can be compared with an earlier one. */
function checkAgainst(against: string, output: Output): void {
  if (against === previousWord) {
    if (!hasRunWords(output.parts.file)) throw previousUnknown(output.given);
    return;
  }
  const { given, file, isTable, object } = parseOutput(against, "read");
  if (given === output.given || (file !== null && file === output.file)) {
    const message = `--against ${redactAddress(against)} is the output itself, which the run replaces`;
    throw new UsageError("against_is_output", message, {
      hint: "name another file, or keep the outputs apart: -o 'nights/{date}.csv' --against previous",
    });
  }
  if (isTable || object !== null || existsSync(against)) return;
  throw new UsageError("input_not_found", `--against: there is no file ${against}`, {
    hint: "check the path",
  });
}

/**
 * Writes the report of a run whose rows are published, from its staged rows or its file.
 *
 * @param flags what `repute report` needs to read the output, for the hint of an error
 * @param onNotice called if the previous output is skipped or missing
 */
export async function reportRun(
  settings: RunReportSettings,
  run: PublishedRun,
  flags: readonly string[],
  onNotice: (message: string) => void,
): Promise<void> {
  const { output, prefix, report, against, stateDir } = settings;
  if (report === undefined) return;
  const { manifest } = run;
  const reading = await run.read();
  const start = startOf(manifest);
  const own = output.named(start);
  const rows = manifest.output.path ?? own.given;
  const page = namedAfter(report, start);
  try {
    if (!isObjectAddress(report)) await makeFolders(report, start);
    const changes = await changesOf(own, output, { prefix, against, stateDir }, onNotice);
    await writeReportPage(page, await tallied(rows, reading, changes));
  } catch (error) {
    if (!(error instanceof FatalError)) throw error;
    const from = against === undefined ? [] : ["--against", against];
    const words = [rows, ...from, ...flags, "-o", page].map(shellWord).join(" ");
    const hint = `the rows are in ${rows}; once this is fixed, make the page: repute report ${words}`;
    throw new FatalError(error.code, error.message, { cause: error, hint });
  }
}

function tallied(
  title: string,
  { manifest, columns, records }: OutputReading,
  changes: Changes | null,
  signal?: AbortSignal,
): Promise<Report> {
  const rows = { columns, records: abortable(records, signal) };
  return tallyReport(redactAddress(title), rows, manifest, changes);
}

type RunReportSettings = Pick<FlatSettings, "to" | "prefix" | "columns" | "stateDir"> & {
  readonly output: Output;
  readonly report?: string | undefined;
  readonly against?: string | undefined;
};

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
  if (settings.output !== undefined) checkReportName(settings.output);
  const { signal, reporter } = context;
  const { onNotice } = reporter.listener;
  const output = parseOutput(operand, "read");
  const { prefix, stateDir } = settings;
  const changes = await changesOf(output, patternOf(output), { ...settings, signal }, onNotice);
  const reading = await readOutput(output, prefix, undefined, stateDir);
  const made = await tallied(output.given, reading, changes, signal);
  if (settings.output === undefined) {
    const { reportText } = await import("../../../jobs/report/text.js");
    return writeOut(context, printableData(reportText(made, context.stdout.columns || 80)));
  }
  await writeReportPage(settings.output, made);
  const { headline } = await import("../../../jobs/report/contents.js");
  reporter.notice(`${headline(made)} ${settings.output}`);
}

const maxListed = 25;

/** What changed since an earlier output, for a report. @throws as `compareOutputs` */
async function changesSince(
  earlier: Output,
  later: Output,
  comparing: Comparing,
): Promise<Changes> {
  await using diff = await compareOutputs(earlier, later, comparing);
  const worst = [];
  for (const change of diff.changes()) {
    if (worst.length === maxListed) break;
    worst.push(change);
  }
  return { earlier: redactAddress(earlier.given), counts: diff.counts, worst };
}

/**
 * What changed since the output that `--against` names; null without it. `previous` is the newest
 * earlier output of the pattern that can be read; null if there is none.
 *
 * @param onNotice called for each output that is skipped, and if there is none
 * @throws UsageError `previous_unknown` without a pattern; as `compareOutputs`
 */
async function changesOf(
  own: Output,
  pattern: Output | null,
  { against, ...comparing }: Comparing & { readonly against?: string | undefined },
  onNotice: (message: string) => void,
): Promise<Changes | null> {
  if (against === undefined) return null;
  if (against !== previousWord) return changesSince(parseOutput(against, "read"), own, comparing);
  if (pattern === null) throw previousUnknown(own.given);
  for (const earlier of await previousOutputs(pattern, own)) {
    let fault = await faultOf(earlier, comparing.stateDir);
    try {
      if (fault === null) return await changesSince(earlier, own, comparing);
    } catch (error) {
      comparing.signal?.throwIfAborted();
      if (!(error instanceof ReputeError)) throw error;
      fault = error.message;
    }
    onNotice(`the report is not compared with ${earlier.given}: ${fault}`);
  }
  onNotice(`there is no earlier output of ${pattern.given} to compare the report with`);
  return null;
}
