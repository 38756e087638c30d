import { prepareConnections } from "../pipeline/open-connections.js";
import type { EnrichSettings } from "../pipeline/options.js";
import type { EnrichJob, Manifest } from "../pipeline/types.js";
import type { CommandCall } from "./command.js";
import { exitCodeOfRun, exitCodes } from "./exit-code.js";
import { paceOf } from "./pace.js";
import { ProgressDisplay } from "./progress-display.js";
import { requireAhead } from "./require-ahead.js";
import { embeddedServiceName } from "./services.js";
import type { ServiceAccess } from "./services.js";
import { keepHeapSmallAfter } from "./tune-engine.js";

/** The settings of a run of the main job, and those of the program that it heeds. */
type EnrichJobSettings = EnrichSettings & {
  readonly local: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
  readonly config?: string | undefined;
};

/** What the rows are, where it is not the settings that say so. */
export type EnrichJobInput = Pick<EnrichJob, "input" | "serviceName">;

type EnrichJobCall = Pick<CommandCall<EnrichJobSettings>, "settings" | "context" | "shownCommand">;

/** Loads what is done with a job: the rows of an input are enriched, or those of an output asked again. */
export type LoadWork = () => Promise<(job: EnrichJob) => Promise<Manifest>>;

/** Runs the main job at a terminal: progress, summary, exit code. */
export async function runEnrichJob(
  call: EnrichJobCall,
  intel: ServiceAccess,
  what: EnrichJobInput,
  load: LoadWork = loadEnrich,
): Promise<number> {
  const { context, settings } = call;
  const { local: _local, quiet: _quiet, json: _json, config: _config, ...own } = settings;
  const manifest = await runJob(call, load, {
    settings: { ...own, intelUrl: intel.url, rate: paceOf(settings.rate, intel.embedded) },
    stdout: context.stdout,
    ...(intel.embedded ? { serviceName: embeddedServiceName } : {}),
    ...what,
    apiKey: intel.credential,
    command: call.shownCommand,
    signal: context.signal,
    clock: context.clock,
    onWarning: (message) => context.reporter.warning(message),
    onNotice: (message) => {
      // Where the summary is JSON on stderr, nothing else is.
      const isJson = settings.json && settings.output === "-";
      if (!settings.quiet && !isJson) context.reporter.print(`repute: ${message}`);
    },
  });
  await report(manifest, call);
  const code = exitCodeOfRun(settings.failOn, manifest.statuses);
  if (settings.tagIps === undefined) return code;
  return Math.max(code, await exportSeenTags(call, intel, manifest, settings.tagIps));
}

async function loadEnrich(): ReturnType<LoadWork> {
  requireAhead(import.meta.url, "../pipeline/enrich.js");
  return (await import("../pipeline/enrich.js")).enrich;
}

async function runJob(call: EnrichJobCall, load: LoadWork, job: EnrichJob): Promise<Manifest> {
  const { context, settings } = call;
  const perform = await keepHeapSmallAfter(async () => {
    // While the modules of the job are loaded, a thread loads its own.
    await prepareConnections(job.settings);
    if (settings.cache !== undefined) {
      requireAhead(import.meta.url, "../lookup/cache/finding-cache.js");
    }
    return load();
  });
  const display = new ProgressDisplay(context.reporter, context.clock);
  // Rows that scroll by on the same terminal leave no room for a line that stays.
  const shown = !settings.quiet && !(settings.output === "-" && context.stdout.isTTY === true);
  try {
    return await perform({
      ...job,
      onStart: (progress) => {
        if (shown) display.start(progress, context.signal);
      },
    });
  } catch (error) {
    const { explainInterruption } = await import("./interrupted-run.js");
    throw explainInterruption(error, settings.output);
  } finally {
    display.stop();
  }
}

/** The run's second product: the addresses behind every tag that its rows brought. */
async function exportSeenTags(
  call: EnrichJobCall,
  intel: ServiceAccess,
  manifest: Manifest,
  folder: string,
): Promise<number> {
  const { context, settings } = call;
  const { exportSummary, exportTagLists } = await import("./tag-export.js");
  const { seenTags } = await import("../pipeline/seen-tags.js");
  const names = (): readonly string[] => seenTags(manifest);
  const report = await exportTagLists(intel, call, { names, folder }, settings.quiet);
  if (!settings.quiet && !settings.json) context.reporter.print(exportSummary(report));
  return report.failed > 0 ? exitCodes.rowsFailed : exitCodes.done;
}

async function report(manifest: Manifest, { settings, context }: EnrichJobCall): Promise<void> {
  if (settings.json) {
    const stream = settings.output === "-" ? context.stderr : context.stdout;
    stream.write(`${JSON.stringify(manifest)}\n`);
  } else if (!settings.quiet) {
    const { formatSummary } = await import("./summary.js");
    context.reporter.print(formatSummary(manifest, context.reporter.width ?? 100));
  }
}
