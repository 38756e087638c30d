import { userStateFolder } from "../../core/files/user-state-folder.js";
import type { EnrichSettings } from "../../pipeline/options.js";
import type { EnrichJob, Manifest } from "../../pipeline/types.js";
import type { CommandCall } from "../command.js";
import { exitCodeOfRun, exitCodes } from "../exit-code.js";
import { paceOf } from "../services/pace.js";
import { ProgressDisplay } from "../terminal/progress-display.js";
import { embeddedServiceName } from "../services/services.js";
import type { ServiceAccess } from "../services/services.js";

/** The settings of a run of the main job, and those of the program that apply to it. */
type EnrichJobSettings = EnrichSettings & {
  readonly local: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
  readonly config?: string | undefined;
};

type EnrichJobCall = Pick<CommandCall<EnrichJobSettings>, "settings" | "context" | "shownCommand">;

/** Loads the work of a job: enriching an input, or asking again about the failed rows of an output. */
type LoadWork = () => Promise<(job: EnrichJob) => Promise<Manifest>>;

/** Runs the main job at a terminal: progress, summary, exit code. */
export async function runEnrichJob(
  call: EnrichJobCall,
  intel: ServiceAccess,
  what: Pick<EnrichJob, "input" | "serviceName">,
  load: LoadWork = async () => (await import("../../pipeline/enrich.js")).enrich,
): Promise<number> {
  const { context, settings } = call;
  if (settings.tagIps !== undefined) await checkTagFolder(settings.tagIps);
  let lastStep = (): void => undefined;
  const { local: _local, quiet: _quiet, json: _json, config: _config, ...own } = settings;
  const manifest = await runJob(call, load, {
    settings: { ...own, intelUrl: intel.url, rate: paceOf(settings.rate, intel.embedded) },
    stdout: context.stdout,
    ...(intel.embedded ? { serviceName: embeddedServiceName } : {}),
    ...what,
    embedded: intel.embedded,
    stateFolder: userStateFolder(context.env),
    apiKey: intel.credential,
    command: call.shownCommand,
    signal: context.signal,
    clock: context.clock,
    onWarning: (message) => context.reporter.warning(message),
    onFinished: (step) => void (lastStep = step),
    onNotice: (message) => {
      // Where the summary is JSON on stderr, nothing else is.
      const isJson = settings.json && settings.output === "-";
      if (!settings.quiet && !isJson) context.reporter.print(`repute: ${message}`);
    },
  });
  // Only once nothing is left that a resume would have to do.
  const over = (): void => (context.beforeExit ?? ((step) => step()))(lastStep);
  if (manifest.exit_reason === "too_many_failed") {
    const { tooManyFailedError } = await import("./too-many-failed-error.js");
    await report(manifest, call);
    over();
    throw tooManyFailedError(manifest, settings);
  }
  const code = exitCodeOfRun(settings.failOn, manifest.statuses);
  // A summary for people need not wait for the lists; of JSON there is one object.
  if (settings.tagIps === undefined || !settings.json) await report(manifest, call);
  if (settings.tagIps === undefined) {
    over();
    return code;
  }
  const { exportSeenTags } = await import("./seen-tags-export.js");
  const exported = await exportSeenTags(call, intel, manifest, settings.tagIps);
  if (settings.json) await report(exported.manifest, call);
  if (exported.fault !== null) throw exported.fault.error;
  over();
  return exported.failed > 0 ? exitCodes.rowsFailed : code;
}

/** What is wrong with the folder is told before the night's requests are made, not after. */
async function checkTagFolder(folder: string): Promise<void> {
  const { ExportFolder } = await import("../../tags/folder/export-folder.js");
  await ExportFolder.check(folder);
}

async function runJob(call: EnrichJobCall, load: LoadWork, job: EnrichJob): Promise<Manifest> {
  const { context, settings } = call;
  const perform = await load();
  const display = new ProgressDisplay(context.reporter, context.clock);
  // Rows that scroll by on the same terminal leave no room for a line that stays.
  const shown = !settings.quiet && !(settings.output === "-" && context.stdout.isTTY === true);
  try {
    return await perform({
      ...job,
      onStart: (progress) => display.start(progress, context.signal, shown),
    });
  } catch (error) {
    const { explainInterruption } = await import("./interrupted-run.js");
    throw explainInterruption(error, settings.output);
  } finally {
    display.stop();
  }
}

async function report(manifest: Manifest, { settings, context }: EnrichJobCall): Promise<void> {
  if (settings.json) {
    const stream = settings.output === "-" ? context.stderr : context.stdout;
    stream.write(`${JSON.stringify(manifest)}\n`);
  } else if (!settings.quiet) {
    const { formatSummary } = await import("../terminal/summary.js");
    context.reporter.print(formatSummary(manifest, context.reporter.width ?? 100));
  }
}
