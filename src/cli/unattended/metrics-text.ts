import { type FoundManifest } from "../../core/manifest/found-manifest.js";
import { type ExitReason, exitReasons } from "../../core/manifest/manifest.js";
import { toWellFormed } from "../../core/bytes.js";

/** What the metrics of a run are made from. */
export interface MeteredRun {
  /** Name of the command, and the output as given. Tell the files of several jobs apart. */
  readonly command: string;
  readonly output: string;
  readonly record: FoundManifest;
  /** Null while the run is in progress. */
  readonly ended: { readonly code: number; readonly reason: ExitReason } | null;
  /** When a run of this file last succeeded, in seconds since 1970; null for never. */
  readonly lastSuccess: number | null;
  readonly startedAt: number;
  readonly now: number;
}

type Labels = Readonly<Record<string, string>>;

type MetricSample = readonly [labels: Labels, value: number];

interface Family {
  readonly name: string;
  readonly help: string;
  readonly unit?: "seconds";
  readonly samples: readonly MetricSample[];
}

const one = (value: number): readonly MetricSample[] => [[{}, value]];

/**
 * The metrics of a run as OpenMetrics text. All are gauges: their values are those of one run and
 * start again with the next. In OpenMetrics, samples of a counter end in `_total` but its type and
 * help do not, so that node_exporter, which reads the older text format, would lose both.
 */
export function metricsText(run: MeteredRun): string {
  const common = { command: run.command, output: run.output };
  const blocks = familiesOf(run)
    .filter(({ samples }) => samples.length > 0)
    .map((family) => familyText(family, common));
  return `${blocks.join("")}# EOF\n`;
}

function familiesOf(run: MeteredRun): readonly Family[] {
  const { record, ended, lastSuccess, startedAt, now } = run;
  return [
    ...rowFamilies(record),
    {
      name: "requests",
      help: "Requests by endpoint and outcome: an HTTP status or the code of a network fault.",
      samples: Object.entries(record.requests ?? {}).flatMap(([endpoint, { outcomes }]) =>
        counted("outcome", outcomes).map(([labels, n]): MetricSample => [
          { endpoint, ...labels },
          n,
        ]),
      ),
    },
    {
      name: "tag_lists",
      help: "Tag lists by the result of their export.",
      samples: counted("status", tagCounts(record.tag_exports ?? [])),
    },
    { name: "running", help: "1 while the run is in progress.", samples: one(ended ? 0 : 1) },
    {
      name: "start_time_seconds",
      help: "When the process started, in seconds since 1970.",
      unit: "seconds",
      samples: one(seconds(startedAt)),
    },
    {
      name: "update_time_seconds",
      help: "When these metrics were written, in seconds since 1970.",
      unit: "seconds",
      samples: one(seconds(now)),
    },
    {
      name: "duration_seconds",
      help: "Duration of the run, without interruptions.",
      unit: "seconds",
      samples: one(record.seconds ?? seconds(now - startedAt)),
    },
    {
      name: "last_success_time_seconds",
      help: "When a run last ended with exit code 0, in seconds since 1970.",
      unit: "seconds",
      samples: lastSuccess === null ? [] : one(lastSuccess),
    },
    {
      name: "exit_code",
      help: "Exit code of the run that has ended.",
      samples: ended === null ? [] : one(ended.code),
    },
    {
      name: "exit_reason",
      help: "1 for the reason why the run ended.",
      samples: exitReasons.map((reason) => [{ reason }, ended?.reason === reason ? 1 : 0]),
    },
  ];
}

function rowFamilies({ statuses, verdicts, sources, drift }: FoundManifest): readonly Family[] {
  return [
    { name: "rows", help: "Rows written, by status.", samples: counted("status", statuses) },
    {
      name: "verdict_rows",
      help: "Rows written, by verdict; unknown counts those without one.",
      samples: counted("verdict", verdicts),
    },
    {
      name: "source_rows",
      help: "Rows with an item, by the origin of their answer.",
      samples: counted("source", sources),
    },
    {
      name: "cache_hits",
      help: "Rows answered from the cache.",
      samples: sources === undefined ? [] : one(sources.cache),
    },
    {
      name: "drift",
      help: "Answers with a value that the interface does not list.",
      samples: drift === undefined ? [] : one(Object.values(drift).reduce((sum, n) => sum + n, 0)),
    },
  ];
}

function counted(
  label: string,
  counts: Readonly<Record<string, number>> = {},
): readonly MetricSample[] {
  return Object.entries(counts).map(([name, n]): MetricSample => [{ [label]: name }, n]);
}

function tagCounts(tags: readonly { readonly status: string }[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { status } of tags) counts.set(status, (counts.get(status) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

function familyText({ name, help, unit, samples }: Family, common: Labels): string {
  const full = `repute_${name}`;
  const lines = [
    `# TYPE ${full} gauge`,
    ...(unit === undefined ? [] : [`# UNIT ${full} ${unit}`]),
    `# HELP ${full} ${help}`,
    ...samples.map(([labels, value]) => `${full}{${labelText({ ...common, ...labels })}} ${value}`),
  ];
  return `${lines.join("\n")}\n`;
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
}

/** A backslash, a quote and a line feed are escaped in label values (OpenMetrics 1.0, 4.1.2). */
function escaped(value: string): string {
  return toWellFormed(value)
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n");
}

/** The time of the last success in an earlier text; null if there is none. */
export function lastSuccessIn(text: string): number | null {
  const found = /^repute_last_success_time_seconds\{.*\} ([\d.]+)$/m.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
