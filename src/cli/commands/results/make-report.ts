import { abortable } from "../../../core/abort.js";
import { UsageError } from "../../../core/errors.js";
import { realPath } from "../../../core/files/real-path.js";
import { replaceFile } from "../../../core/files/json-file.js";
import { outputFault } from "../../../outputs/output-fault.js";
import { isObjectAddress } from "../../../s3/address.js";
import { findWarehouse } from "../../../outputs/registry.js";
import type { FlatSettings } from "../../../run/options.js";
import { outputFiles } from "../../../earlier/output-files.js";
import { mustChooseColumns, reportedColumns } from "../../../core/needed-columns.js";
import { type OutputReading, readOutput, refuseUnreadable } from "../../../earlier/read-output.js";
import { readStaged } from "../../../earlier/read-staged.js";
import type { FoundManifest } from "../../../core/manifest/found-manifest.js";
import type { PublishedRun } from "../../../run/types.js";
import { historyOf } from "../../../report/history.js";
import { tallyReport } from "../../../report/report-tally.js";
import type { Report, RunFacts } from "../../../report/types.js";
import { redactAddress } from "../../../core/redaction/redact-address.js";

/** What a report compares the output with. */
export interface ComparedWith {
  /** An earlier output. */
  readonly against?: string | undefined;
  /** Folder with manifests of earlier nights. */
  readonly history?: string | undefined;
  /** The folder of `--state-dir`. */
  readonly stateDir?: string | undefined;
  /** The output, if it is open already. */
  readonly reading?: OutputReading | undefined;
  /** Called for each file of `history` that is not a manifest. */
  readonly onWarning?: (message: string) => void;
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads an output and counts what its report shows.
 *
 * @param prefix prefix of the added columns. Default the one that the manifest notes
 * @throws as `readOutput`; the signal's reason; UsageError `manifest_missing` with `history` but
 *   without a manifest
 */
export async function makeReport(
  output: string,
  prefix: string | undefined,
  { against, history, stateDir, reading, onWarning, signal }: ComparedWith = {},
): Promise<Report> {
  const changes =
    against === undefined
      ? null
      : await (
          await import("./compare-outputs.js")
        ).changesSince(against, output, { prefix, stateDir, signal });
  const { manifest, columns, records } =
    reading ?? (await readOutput(output, prefix, undefined, stateDir));
  const nights =
    history === undefined
      ? null
      : await (await import("./read-nights.js")).nightsIn(history, manifest, output, onWarning);
  const facts = manifest === null ? null : factsOf(manifest);
  const compared = { changes, history: nights === null ? null : historyOf(nights) };
  const rows = { columns, records: abortable(records, signal) };
  return tallyReport(redactAddress(output), rows, facts, compared);
}

/** Writes a report as a page; a reader finds the old page or the new one. */
export async function writeReportPage(path: string, report: Report): Promise<void> {
  const { reportPage } = await import("../../../report/page/page.js");
  if (isObjectAddress(path)) {
    await (await import("../../../s3/put-page.js")).putPage(path, reportPage(report));
    return;
  }
  await replaceFile(realPath(path), reportPage(report), 0o644).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

/** @throws UsageError `unknown_output` unless the name ends like a page's */
export function checkReportName(path: string): void {
  if (/\.html?$/i.test(path)) return;
  throw new UsageError("unknown_output", `${path} is not a page`, {
    hint: "a report is an HTML file: name it REPORT.html",
  });
}

/**
 * Checks before the run that its report can be made.
 *
 * @throws UsageError `unknown_output`, `report_needs_file`, `report_cannot_read_shape`
 */
export function checkRunReport({ report = "", output, to, columns }: RunReportSettings): void {
  checkReportName(report);
  mustChooseColumns("the output", reportedColumns, columns);
  if (output === "-") {
    throw new UsageError(
      "report_needs_file",
      "--report reads the output, which stdout does not keep",
      {
        hint: "write the rows to a file with -o OUT",
      },
    );
  }
  if (findWarehouse(output) !== null) return;
  refuseUnreadable(output, to ?? outputFiles(output, null).format);
}

/** Writes the report of a run whose rows are published, from its staged rows or its file. */
export async function reportRun(
  { output, prefix, report, stateDir }: RunReportSettings,
  run: PublishedRun,
): Promise<void> {
  if (report === undefined) return;
  const { manifest, local, staged } = run;
  const reading =
    staged === null
      ? await readOutput(local, prefix, undefined, stateDir)
      : readStaged(staged, run, prefix);
  const { path } = manifest.output;
  await writeReportPage(report, await makeReport(path ?? output, prefix, { reading }));
}

type RunReportSettings = Pick<FlatSettings, "output" | "to" | "prefix" | "columns"> & {
  readonly report?: string | undefined;
  readonly stateDir?: string | undefined;
};

function factsOf({ command = [], input, inputs, ...run }: FoundManifest): RunFacts {
  const paths = inputs?.map(({ path }) => path) ?? [input?.path ?? []].flat();
  const end = run.exit_reason ?? "done";
  return {
    command,
    inputs: paths,
    itemColumn: input?.item_column ?? null,
    itemColumns: Object.fromEntries(
      (inputs ?? []).map(({ path, item_column }) => [path, item_column]),
    ),
    startedAt: run.started_at ?? "",
    seconds: run.seconds ?? 0,
    requests: run.requests ?? {},
    exclusions: run.exclusions ?? [],
    unusualEnd: end === "done" ? null : end.replaceAll("_", " "),
    synthetic: run.synthetic === true,
  };
}
