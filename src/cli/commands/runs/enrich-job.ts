import { inGroups, runOptions } from "../../../jobs/enrich/options.js";
import { isRefusal, type Manifest } from "../../../core/manifest.js";
import type { EnrichJob, ReadingSettings } from "../../../jobs/enrich/types.js";
import { type CommandCall, type SettingsOf, defineCommand } from "../../command.js";
import type { Session } from "../../../client/session/session.js";
import { lookupGroups, withSession } from "../../sessions.js";
import type { CliContext } from "../../terminal/cli-context.js";
import { followRun } from "../../terminal/run-progress.js";
import { EarlyEndError, FatalError, InterruptedError, UsageError } from "../../../core/errors.js";
import type { FolderSettings } from "../../../io/input/list-inputs.js";
import type { RunInput } from "../../../io/input/types.js";
import { statePath } from "../../../jobs/enrich/state/state-folder.js";
import { sourceOptions } from "../../../io/formats/source-options.js";
import { exitCodeOfManifest, printSummary, readingFlags } from "./summary.js";
import { userStateFolder } from "../../../core/files/folders.js";
import { lookupOptions } from "../../../client/lookup/options.js";
import { tableOptions, writingOptions } from "../../../io/output/options.js";
import { cliOptions, unattendedOptions } from "../../options/cli-options.js";

const { report, against, json, quiet } = cliOptions.shape;
const { tagIps, ...files } = writingOptions.shape;
const { lookups, bogons, exclude, urlQuery, cache, cacheTtl, ...pace } = lookupOptions.shape;

export const runGroups = {
  Output: files,
  Tables: tableOptions.shape,
  Service: lookupGroups.Service,
  Lookups: { lookups, bogons, exclude, urlQuery, cache, cacheTtl },
  Pace: pace,
  Run: runOptions.shape,
  "Reports and monitoring": { report, against, tagIps, json, quiet, ...unattendedOptions.shape },
};

export const jobExitCodes = {
  1: "the run could not continue, or more rows failed than --max-failed allows",
  3: "done, but the output has rows that --fail-on counts (default: failed)",
  75: "stopped early by a budget, deadline or quota; resumable",
};

type EnrichJobSettings = SettingsOf<typeof runGroups & { Input: typeof sourceOptions.shape }>;

type EnrichJobCall = Pick<
  CommandCall<EnrichJobSettings>,
  "settings" | "context" | "shownCommand" | "watch"
>;

type Perform = (job: EnrichJob) => Promise<Manifest>;

/** Runs `enrich` or a command like it: the job, its report and tag lists, summary and exit code. */
export async function runEnrichJob(
  call: EnrichJobCall,
  session: Session,
  input: RunInput,
  perform: Perform = async (job) => (await import("../../../jobs/enrich/execute.js")).enrich(job),
): Promise<number> {
  const { context, watch } = call;
  const grouped = inGroups(call.settings);
  const { output } = grouped.output;
  const settings = { ...call.settings, output };
  const stateFolder = output.isStdout ? null : statePath(output.base(settings.stateDir));
  watch?.follow({ stateFolder, toStdout: !output.isStdout });
  if (settings.tagIps !== undefined) {
    // Fail before the first request.
    const { ExportFolder } = await import("../../../jobs/tags/export-folder.js");
    await ExportFolder.check(settings.tagIps);
  }
  const hasReport = (settings.report ?? settings.against) !== undefined;
  const reports = hasReport ? await import("../../../jobs/report/make-report.js") : null;
  const { onNotice } = context.reporter.listener;
  const writeReport = await reports?.prepareReport(settings, readingFlags(settings), onNotice);
  let lastStep = (): void => undefined;
  let reported: Promise<void> | undefined;
  const manifest = await runJob(call, perform, {
    input,
    settings: grouped,
    session,
    onPublished: async (run) => {
      // A failed report is thrown after the summary: the run itself has succeeded.
      if (isRefusal(run.manifest.exit_reason)) return;
      reported = writeReport?.(run);
      await reported?.catch(() => undefined);
    },
    onFinished: (step) => void (lastStep = step),
  });
  watch?.finish(manifest);
  // The text summary does not wait for the tag lists; the JSON summary includes them.
  await printSummary(manifest, { context, settings });
  let whole = manifest;
  if (settings.tagIps !== undefined && !isRefusal(manifest.exit_reason)) {
    const { exportTagLists } = await import("../tag/export.js");
    const { exportSeenTags } = await import("../../../jobs/tags/export-seen-tags.js");
    const exported = await exportSeenTags(manifest, settings.tagIps, {
      ...settings,
      exportLists: (what) => exportTagLists(session, context, what, !settings.json),
      onFault: (message) => context.reporter.print(`repute: ${message}`),
    });
    whole = exported.manifest;
    watch?.finish(whole);
    if (exported.fault !== null) throw exported.fault.error;
  }
  // The last step removes what a resume would find: right before the process exits.
  (context.beforeExit ?? ((step) => step()))(lastStep);
  watch?.follow({ stateFolder: null });
  await reported;
  return exitCodeOfManifest(whole, settings);
}

async function runJob(
  call: EnrichJobCall,
  perform: Perform,
  job: Pick<EnrichJob, "input" | "settings" | "session" | "onPublished" | "onFinished">,
): Promise<Manifest> {
  const { context } = call;
  const { reporter, clock, signal } = context;
  let reached = (): string | null => null;
  // Rows printed to the same terminal would overwrite the progress line.
  const { output } = job.settings.output;
  const toTerminal = output.isStdout && context.stdout.isTTY === true;
  try {
    return await perform({
      ...job,
      stdout: context.stdout,
      stateFolder: userStateFolder(context.env),
      command: call.shownCommand,
      signal,
      clock,
      onRunId: (runId) => void (reporter.runId = runId),
      ...reporter.listener,
      onStart(progress, record) {
        call.watch?.follow({ record: () => ({ ...record() }) });
        reached = followRun(reporter, clock, progress, signal, !toTerminal);
      },
    });
  } catch (error) {
    throw explainInterruption(error, reached(), call.watch?.isKept() === true);
  } finally {
    reporter.follow(null);
  }
}

/**
 * Adds to a run's error how far the run got and how to continue it.
 *
 * @param reached rows written and percentage done, as text; null if no row was started
 * @param kept whether the state of the run was kept
 */
export function explainInterruption(
  error: unknown,
  reached: string | null,
  kept: boolean,
): unknown {
  // A run that never started has no state.
  if (error instanceof UsageError) return error;
  const saved = kept
    ? "progress is saved; to continue, repeat the command with --resume"
    : "nothing was saved; run the command again";
  const next = reached === null ? saved : `${reached}; ${saved}`;
  if (error instanceof InterruptedError) return new InterruptedError(error.signal, { hint: next });
  if (error instanceof EarlyEndError) {
    const message = `stopped early: ${error.message}; ${next}`;
    return new EarlyEndError(error.code, message, { cause: error });
  }
  if (kept && error instanceof FatalError && !/--re(?:sume|start)\b/.test(error.hint ?? "")) {
    const hint = error.hint === null ? next : `${error.hint}\n  ${next}`;
    return new FatalError(error.code, error.message, { cause: error, hint });
  }
  return error;
}

/**
 * The input named by the operands: a file, stdin, or several files and folders.
 *
 * @throws what `inputNames` and `inputNamed` throw
 */
export async function enrichInput(
  operands: readonly string[],
  context: CliContext,
  settings: ReadingSettings & FolderSettings = {},
): Promise<RunInput> {
  const names = inputNames(operands, context, "rows");
  const { inputNamed } = await import("../../../jobs/enrich/choose-inputs.js");
  const stdin = () => ({ stream: context.stdin(), name: "stdin" });
  return inputNamed(names, stdin, settings, context.reporter.listener);
}

/**
 * The inputs that the operands name, by default stdin.
 * @param what what to pipe in, for the hint
 * @throws UsageError `input_missing` if there are no operands and stdin is a terminal
 */
export function inputNames(
  operands: readonly string[],
  { stdin }: CliContext,
  what: string,
): readonly string[] {
  if (operands.length > 0) return operands;
  if (stdin().isTTY !== true) return ["-"];
  throw new UsageError("input_missing", "no input", {
    hint: `name a file or pipe ${what} in; to type it, use -`,
  });
}

export const inputOperand = {
  operands: [
    [
      "input",
      "files and folders to read in order as one input, or - for stdin [default -]; gzip is detected. Also FILE.parquet, and duckdb:FILE or postgres://USER@HOST/DB with ?table=NAME or ?query=SELECT…",
    ],
  ],
} as const;

export const enrichCommand = defineCommand({
  name: "enrich",
  isJob: true,
  usage: "[input...] [-o OUT] [flags]",
  summary: "look up the item in each row of a file and add its reputation",
  description: [
    "Looks up the item in every row of a CSV, TSV, NDJSON or text file and writes the rows in input order, unchanged, with the answer in added columns. A failed lookup is a row with a status, never a missing row.",
    "OUT appears once it is complete, with OUT.manifest.json beside it as the record of the run. To continue an interrupted run, repeat the command with --resume.",
  ],
  ...inputOperand,
  groups: { Input: sourceOptions.shape, ...runGroups },
  examples: {
    "repute enrich dump.csv -o enriched.csv --local":
      "try it with the embedded service: nothing leaves this machine",
    "repute enrich dump.csv -o enriched.csv --intel-url https://intel.example/beta":
      "query the service, with at most 100 requests per second",
  },
  exitCodes: jobExitCodes,
  run: async (call) => {
    const input = await enrichInput(call.operands, call.context, call.settings);
    return withSession("intel", call, (session) => runEnrichJob(call, session, input));
  },
});
