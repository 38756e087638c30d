import { inGroups } from "../../../jobs/enrich/options.js";
import { isRefusal, type Manifest } from "../../../core/manifest/manifest.js";
import type { EnrichJob } from "../../../jobs/enrich/types.js";
import type { CommandCall, SettingsOf } from "../../command.js";
import { exitCodes } from "../../exit-code.js";
import type { Session } from "../../../client/session/session.js";
import { withSession } from "../../services/services.js";
import type { CliContext } from "../../terminal/cli-context.js";
import { ProgressDisplay } from "../../terminal/progress-display.js";
import { EarlyEndError, FatalError, InterruptedError, UsageError } from "../../../core/errors.js";
import type { FolderSettings } from "../../../io/input/listing/list-inputs.js";
import type { RunInput } from "../../../io/input/types.js";
import type { Output } from "../../../io/output/output.js";
import { statePath } from "../../../jobs/enrich/state/state-files.js";
import type { sourceOptions } from "../../../io/input/source-options.js";
import type { runGroups } from "./job-options.js";
import { exitCodeOfManifest } from "../results/failed-rows.js";
import { printSummary } from "./summary.js";
import type { ReadingSettings } from "../../../jobs/enrich/row-source.js";
import type { ServiceAccess } from "../../../client/session/types.js";
import { userStateFolder } from "../../../core/files/user-folders.js";

/** The settings of the main job, and those of the program that apply to it. */
type EnrichJobSettings = SettingsOf<typeof runGroups & { Input: typeof sourceOptions.shape }>;

type EnrichJobCall = Pick<
  CommandCall<EnrichJobSettings>,
  "settings" | "context" | "shownCommand" | "watch"
>;

type Perform = (job: EnrichJob) => Promise<Manifest>;

export function runEnrichJob(
  call: EnrichJobCall,
  service: ServiceAccess,
  input: RunInput,
  perform: Perform = async (job) => (await import("../../../jobs/enrich/execute.js")).enrich(job),
): Promise<number> {
  return withSession(service, call, (session) => runWith(session, call, input, perform));
}

async function runWith(
  session: Session,
  call: EnrichJobCall,
  input: RunInput,
  perform: Perform,
): Promise<number> {
  const { context, watch } = call;
  const job = jobOf(call, session, input);
  const { output } = job.settings.output;
  const settings = { ...call.settings, output };
  const stateFolder = output.isStdout ? null : statePath(output.base(settings.stateDir));
  watch?.follow({ stateFolder, toStdout: !output.isStdout });
  if (settings.tagIps !== undefined) {
    // A bad folder is reported before the first request.
    const { ExportFolder } = await import("../../../jobs/tags/folder/export-folder.js");
    await ExportFolder.check(settings.tagIps);
  }
  const hasReport = (settings.report ?? settings.against) !== undefined;
  const reports = hasReport ? await import("../results/make-report.js") : null;
  await reports?.checkRunReport(settings);
  let lastStep = (): void => undefined;
  let reported: Promise<void> | undefined;
  const manifest = await runJob(call, perform, {
    ...job,
    onPublished: async (run) => {
      // The run has ended well, whatever becomes of its report.
      if (isRefusal(run.manifest.exit_reason)) return;
      reported = reports?.reportRun(settings, run, job.onNotice);
      await reported?.catch(() => undefined);
    },
    onFinished: (step) => void (lastStep = step),
  });
  watch?.finish(manifest);
  // Called only when a resume would find nothing to do.
  const over = async (): Promise<void> => {
    (context.beforeExit ?? ((step) => step()))(lastStep);
    watch?.over();
    await reported;
  };
  // The text summary does not wait for the lists; the JSON summary includes them.
  await printSummary(manifest, { context, settings });
  if (settings.tagIps === undefined || isRefusal(manifest.exit_reason)) {
    await over();
    return exitCodeOfManifest(manifest, settings);
  }
  const { exportSeenTags } = await import("./seen-tags-export.js");
  const exported = await exportSeenTags({ context, settings }, session, manifest, settings.tagIps);
  watch?.finish(exported.manifest);
  if (exported.fault !== null) throw exported.fault.error;
  await over();
  return exported.failed > 0 ? exitCodes.rowsFailed : exitCodeOfManifest(manifest, settings);
}

function jobOf(
  { context, settings: flat, shownCommand }: EnrichJobCall,
  session: Session,
  input: RunInput,
): EnrichJob {
  const settings = inGroups(flat);
  const isQuiet = flat.quiet || isAlone(flat, settings.output.output, context);
  return {
    input,
    settings,
    session,
    stdout: context.stdout,
    stateFolder: userStateFolder(context.env),
    recordsStream: true,
    command: shownCommand,
    signal: context.signal,
    clock: context.clock,
    onRunId: (runId) => void (context.reporter.runId = runId),
    onWarning: (message) => context.reporter.warning(message),
    onNotice: (message) => {
      if (!isQuiet) context.reporter.print(`repute: ${message}`);
    },
  };
}

async function runJob(call: EnrichJobCall, perform: Perform, job: EnrichJob): Promise<Manifest> {
  const { context, settings } = call;
  const display = new ProgressDisplay(context.reporter, context.clock);
  // Rows printed to the same terminal would overwrite the progress line.
  const { output } = job.settings.output;
  const toTerminal = output.isStdout && context.stdout.isTTY === true;
  const places = {
    terminal: !settings.quiet && !toTerminal,
    log: !settings.quiet && !isAlone(settings, output, context),
  };
  try {
    return await perform({
      ...job,
      onStart(progress, record) {
        call.watch?.follow({ record: () => ({ ...record() }) });
        display.start(progress, context.signal, places);
      },
    });
  } catch (error) {
    throw explainInterruption(error, display.reached(), call.watch?.isKept() === true);
  } finally {
    display.stop();
  }
}

/**
 * Adds to the error of a run how far it got, and how to continue it if its state was kept.
 *
 * @param reached rows written, and the share that is done; null if no row was started
 * @param kept whether its state was kept
 */
export function explainInterruption(
  error: unknown,
  reached: string | null,
  kept: boolean,
): unknown {
  // A run that never started has no state.
  if (error instanceof UsageError) return error;
  const written = reached === null ? "" : `${reached}; `;
  const saved = `${written}progress is saved; to continue, repeat the command with --resume`;
  if (error instanceof InterruptedError) {
    const lost = `${written}nothing was saved; run the command again`;
    return new InterruptedError(error.signal, { hint: kept ? saved : lost });
  }
  if (error instanceof EarlyEndError) {
    const advice = kept
      ? "to continue, repeat the command with --resume"
      : "the remaining rows were not written and no progress was saved";
    return new EarlyEndError(error.code, `stopped early: ${error.message}; ${written}${advice}`, {
      cause: error,
    });
  }
  if (kept && error instanceof FatalError && !(error.hint ?? "").includes("--re")) {
    return new FatalError(error.code, error.message, {
      cause: error,
      hint: error.hint === null ? saved : `${error.hint}\n  ${saved}`,
    });
  }
  return error;
}

/** A JSON summary on stderr must stand alone, unless all of stderr is JSON. */
function isAlone(
  { json }: EnrichJobSettings,
  { isStdout }: Output,
  { reporter }: CliContext,
): boolean {
  return json && isStdout && reporter.format === "text";
}

/**
 * The input named by the operands: a file, stdin, or several files and folders.
 *
 * @throws UsageError for none if stdin is a terminal; as `inputNamed`
 */
export async function enrichInput(
  operands: readonly string[],
  context: CliContext,
  settings: ReadingSettings & FolderSettings & { readonly quiet?: boolean } = {},
): Promise<RunInput> {
  const { reporter } = context;
  const names = inputNames(operands, context, "rows");
  const { inputNamed } = await import("../../../jobs/enrich/choose-inputs.js");
  const stdin = () => ({ stream: context.stdin(), name: "stdin" });
  return inputNamed(names, stdin, settings, {
    onNotice: (notice) => {
      if (!settings.quiet) reporter.print(`repute: ${notice}`);
    },
    onWarning: (warning) => reporter.warning(warning),
  });
}

/**
 * The names in operands, by default stdin.
 *
 * @param what is piped in. @throws UsageError `input_missing` for none if stdin is a terminal
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
