import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { toWellFormed } from "../../core/bytes.js";
import type { Clock } from "../../core/clock.js";
import { faultReason } from "../../core/files/system-fault.js";
import { realPath } from "../../core/files/folders.js";
import { type FoundManifest, type ExitReason, exitReasons } from "../../core/manifest.js";

const everyMs = 15_000;

interface MetricsFileOptions {
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
}

/** What a run reports about itself. */
interface Facts {
  /** Command name, and the output as given: labels that distinguish jobs. */
  readonly command: string;
  readonly output: string;
  readonly record: FoundManifest;
  /** Null while the run is in progress. */
  readonly ended: { readonly code: number; readonly reason: ExitReason } | null;
}

/**
 * Writes a run's metrics to a file and replaces it by rename: a reader sees the old or the new text.
 * Writes are synchronous, so they also work right before the process exits.
 */
export function metricsFile(path: string, { clock, onWarning }: MetricsFileOptions) {
  const startedAt = clock.now();
  const stop = new AbortController();
  let lastSuccess = readLastSuccess(path);
  const write = (facts: Facts): void => {
    try {
      replace(realPath(path), metricsText({ ...facts, lastSuccess, startedAt, now: clock.now() }));
    } catch (error) {
      onWarning(`cannot write the metrics to ${path}: ${faultReason(error)}`);
    }
  };
  return {
    async repeat(facts: () => Facts): Promise<void> {
      while (!stop.signal.aborted) {
        write(facts());
        await clock.sleep(everyMs, stop.signal).catch(() => undefined);
      }
    },
    end(facts: Facts & { readonly ended: NonNullable<Facts["ended"]> }): void {
      stop.abort();
      if (facts.ended.code === 0) lastSuccess = clock.now() / 1000;
      write(facts);
    },
  };
}

function replace(path: string, text: string): void {
  // A rename by root would replace /dev/null with a file.
  const isDevice = statSync(path, { throwIfNoEntry: false })?.isCharacterDevice() === true;
  const written = isDevice ? path : `${path}.new`;
  writeFileSync(written, text);
  if (!isDevice) renameSync(written, path);
}

/** The last success recorded in the existing file, in seconds since 1970; null for none. */
function readLastSuccess(path: string): number | null {
  try {
    const text = statSync(path).isFile() ? readFileSync(path, "utf8") : "";
    const time = /^repute_last_success_time_seconds\{.*\} ([\d.]+)$/m.exec(text)?.[1];
    return time === undefined ? null : Number(time);
  } catch {
    return null;
  }
}

/** `lastSuccess`: when a run with this file last succeeded, in seconds since 1970; null for never. */
type MeteredRun = Facts & { readonly lastSuccess: number | null } & Readonly<
    Record<"startedAt" | "now", number>
  >;

type Labels = Readonly<Record<string, string>>;

type MetricSample = readonly [labels: Labels, value: number];

/** Samples of one metric; left out if empty. */
type Family = readonly [name: string, help: string, samples: readonly MetricSample[]];

const one = (value: number): readonly MetricSample[] => [[{}, value]];

/**
 * The metrics of a run as OpenMetrics text. All are gauges: they describe one run and start over with
 * the next. OpenMetrics adds `_total` to the samples of a counter but not to its TYPE and HELP, and
 * node_exporter, which reads the older text format, would drop both.
 */
export function metricsText(run: MeteredRun): string {
  const common = { command: run.command, output: run.output };
  const blocks = familiesOf(run)
    .filter(([, , samples]) => samples.length > 0)
    .map((family) => familyText(family, common));
  return `${blocks.join("")}# EOF\n`;
}

function familiesOf(run: MeteredRun): readonly Family[] {
  const { record, ended, lastSuccess, startedAt, now } = run;
  const { statuses, verdicts, sources, drift, requests = {} } = record;
  const outcomes = Object.entries(requests).flatMap(([endpoint, { outcomes }]) =>
    counted("outcome", outcomes).map(([labels, n]): MetricSample => [{ endpoint, ...labels }, n]),
  );
  const drifted = Object.values(drift ?? {}).reduce((sum, n) => sum + n, 0);
  const reasons = exitReasons.map((reason): MetricSample => [
    { reason },
    ended?.reason === reason ? 1 : 0,
  ]);
  const success = "When a run last ended with exit code 0, in seconds since 1970.";
  const written = "When these metrics were written, in seconds since 1970.";
  const duration = record.seconds ?? seconds(now - startedAt);
  return [
    ["rows", "Rows written, by status.", counted("status", statuses)],
    [
      "verdict_rows",
      "Rows written, by verdict; unknown counts those without one.",
      counted("verdict", verdicts),
    ],
    ["cache_hits", "Rows answered from the cache.", sources ? one(sources["cache"] ?? 0) : []],
    ["drift", "Answers with a value that the interface does not list.", drift ? one(drifted) : []],
    [
      "requests",
      "Requests by endpoint and outcome: an HTTP status or the code of a network fault.",
      outcomes,
    ],
    ["running", "1 while the run is in progress.", one(ended ? 0 : 1)],
    ["update_time_seconds", written, one(seconds(now))],
    ["duration_seconds", "Duration of the run, without interruptions.", one(duration)],
    ["last_success_time_seconds", success, lastSuccess === null ? [] : one(lastSuccess)],
    ["exit_code", "Exit code of the run that has ended.", ended ? one(ended.code) : []],
    ["exit_reason", "1 for the reason why the run ended.", reasons],
  ];
}

function counted(
  label: string,
  counts: Readonly<Record<string, number>> = {},
): readonly MetricSample[] {
  return Object.entries(counts).map(([name, n]): MetricSample => [{ [label]: name }, n]);
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

function familyText([name, help, samples]: Family, common: Labels): string {
  const full = `repute_${name}`;
  const lines = [
    `# TYPE ${full} gauge`,
    ...(name.endsWith("_seconds") ? [`# UNIT ${full} seconds`] : []),
    `# HELP ${full} ${help}`,
    ...samples.map(([labels, value]) => `${full}{${labelText({ ...common, ...labels })}} ${value}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** A backslash, a quote and a line feed are escaped in label values (OpenMetrics 1.0, 4.1.2). */
function labelText(labels: Labels): string {
  const texts = Object.entries(labels).map(([name, value]) => {
    const escaped = toWellFormed(value).replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
    return `${name}="${escaped}"`;
  });
  return texts.join(",");
}
