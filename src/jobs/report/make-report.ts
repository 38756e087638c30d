import { existsSync } from "node:fs";
import { abortable } from "../../core/abort.js";
import { mustHaveColumns, reportedColumns } from "../../core/columns.js";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { checkRunWords, hasRunWords, startOf } from "../../core/files/output-names.js";
import { redactAddress } from "../../core/redaction.js";
import { shellWord } from "../../core/wording/quantity.js";
import type { Output } from "../../io/output/output.js";
import { outputFile, readOutput, refuseUnreadable } from "../../io/output/read.js";
import { parseOutput } from "../../io/output/registry.js";
import { writeLines } from "../../io/output/text/write-lines.js";
import { compareOutputs } from "../diff/diff-outputs.js";
import { checkFolder, makeFolders } from "../enrich/destination/choose-output.js";
import { faultOf, patternOf, previousOutputs } from "../enrich/finish/previous-outputs.js";
import type { FlatSettings } from "../enrich/options.js";
import type { PublishedRun } from "../enrich/types.js";
import { type Report, tallyReport } from "./report-tally.js";

/** How an output is read, and what it is compared with. */
interface ReportOptions extends Readonly<Parameters<typeof compareOutputs>[2]> {
  /** An earlier output, or `previous` for the newest earlier one of the same pattern. */
  readonly against?: string | undefined;
  /** Called for each output that is not compared with, and if there is none. */
  readonly onNotice: (message: string) => void;
}

/**
 * Reads an output and counts what a report shows.
 *
 * @param read opens its rows. @default those of a finished run
 * @throws UsageError `previous_unknown` without a pattern; as `readOutput` and `compareOutputs`
 */
export async function reportOf(
  output: Output,
  options: ReportOptions,
  read: PublishedRun["read"] = () =>
    readOutput(output, options.prefix, undefined, options.stateDir),
): Promise<Report> {
  const changes = await changesOf(output, options);
  const { records, ...reading } = await read();
  const rows = { ...reading, records: abortable(records, options.signal) };
  return tallyReport(redactAddress(output.given), rows, changes);
}

/** Writes a report page. It replaces an old one at once, so a reader never finds half a page. */
export async function writeReportPage(page: Output, report: Report): Promise<void> {
  const { reportPage } = await import("./page/page.js");
  await writeLines(page, [reportPage(report)]);
}

/** Parses the name of a page. @throws UsageError `unknown_output` unless it ends with .html or .htm */
export function parsePage(path: string): Output {
  if (/\.html?$/i.test(path)) return parseOutput(path);
  throw new UsageError("unknown_output", `${path} is not a page`, {
    hint: "a report is an HTML file: name it REPORT.html",
  });
}

type RunReportSettings = Pick<FlatSettings, "to" | "prefix" | "columns" | "stateDir"> &
  Pick<ReportOptions, "against"> & {
    readonly output: Output;
    readonly report?: string | undefined;
  };

/**
 * Checks before a run that its report can be made.
 *
 * @param flags what `repute report` needs to read the output, for the hint of an error
 * @returns what writes it once the rows are published, from the staged rows or the file
 * @throws UsageError `against_needs_report`, `unknown_output`, `run_word`, `report_needs_file`,
 *   `report_cannot_read_shape`, `previous_unknown`, `against_is_output`, `input_not_found`,
 *   `output_folder_missing`
 */
export async function prepareReport(
  settings: RunReportSettings,
  flags: readonly string[],
  onNotice: ReportOptions["onNotice"],
): Promise<(run: PublishedRun) => Promise<void>> {
  const { report, output, to, columns, against } = settings;
  if (report === undefined) {
    throw new UsageError("against_needs_report", "--against needs --report", {
      hint: "add --report FILE, or compare two outputs with repute diff",
    });
  }
  const named = parsePage(report);
  const { parts, object } = named;
  checkRunWords("--report", parts);
  if (against !== undefined) checkAgainst(against, output);
  const hint = "add them to --columns, or leave out --columns";
  mustHaveColumns("the output", reportedColumns, { only: columns }, hint);
  if (output.isStdout) {
    const message = "--report cannot read an output that goes to stdout";
    throw new UsageError("report_needs_file", message, {
      hint: "write the rows to a file with -o OUT",
    });
  }
  if (object !== null) {
    await (await import("../../io/s3/objects.js")).checkObjectWritable(object.address);
  } else if (named.file !== null) await checkFolder(named.file);
  if (output.isText) {
    refuseUnreadable(output.given, to ?? outputFile(output, null).format);
  }
  return async ({ manifest, read }) => {
    const start = startOf(manifest);
    const own = output.named(start);
    const page = named.named(start);
    try {
      if (object === null) await makeFolders(report, start);
      await writeReportPage(page, await reportOf(own, { ...settings, onNotice }, read));
    } catch (error) {
      if (!(error instanceof FatalError)) throw error;
      const from = against === undefined ? [] : ["--against", against];
      const words = [own.name, ...from, ...flags, "-o", page.given].map(shellWord).join(" ");
      const hint = `the rows are in ${own.name}; once this is fixed, make the page: repute report ${words}`;
      throw new FatalError(error.code, error.message, { cause: error, hint });
    }
  };
}

/** Value of `--against` for the newest earlier output. */
const previousWord = "previous";

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

function previousUnknown(output: string): UsageError {
  const message = `--against previous: the name ${redactAddress(output)} does not identify a run`;
  return new UsageError("previous_unknown", message, {
    hint: "put {date} or {run_id} into the name, such as -o 'nights/{date}.csv', or name the earlier output: --against FILE; for a table, --against 'duckdb:FILE?table=NAME&run=ID' (NAME_runs has the ids)",
  });
}

/** What changed since the output that `--against` names; null without it, and if there is none. */
async function changesOf(own: Output, options: ReportOptions): Promise<Report["changes"]> {
  const { against, stateDir, signal, onNotice } = options;
  if (against === undefined) return null;
  if (against !== previousWord) return changesSince(parseOutput(against, "read"), own, options);
  const pattern = own.pattern ?? patternOf(own);
  if (pattern === null) throw previousUnknown(own.given);
  for (const earlier of await previousOutputs(pattern, own)) {
    let fault = await faultOf(earlier, stateDir);
    try {
      if (fault === null) return await changesSince(earlier, own, options);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ReputeError)) throw error;
      fault = error.message;
    }
    onNotice(`the report is not compared with ${earlier.given}: ${fault}`);
  }
  onNotice(`there is no earlier output of ${pattern.given} to compare the report with`);
  return null;
}

const mostListed = 25;

async function changesSince(earlier: Output, later: Output, options: ReportOptions) {
  await using diff = await compareOutputs(earlier, later, options);
  const worst = diff.worst(mostListed);
  return { earlier: redactAddress(earlier.given), counts: diff.counts, worst };
}
