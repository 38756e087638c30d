import { brokenRows, lookedUp } from "../../../jobs/enrich/failure-limits.js";
import { exitCodes } from "../../../jobs/enrich/ending.js";
import type { CommandCall } from "../../command.js";
import { oneLine, labelled } from "../../../core/wording/printable.js";
import { madeUpText } from "../../../core/finding.js";
import { countedWarning } from "../../../jobs/enrich/counters.js";
import {
  isRefusal,
  madeUpOf,
  type Manifest,
  type RequestCounts,
  type Refusal,
} from "../../../core/manifest.js";
import type { Output } from "../../../io/output/output.js";
import {
  counted,
  formatBytes,
  formatCount,
  formatCounts,
  formatPercent,
  formatSeconds,
  formatSpeed,
  shellWord,
} from "../../../core/wording/quantity.js";
import { manifestPath, startOf } from "../../../core/files/output-names.js";
import { FatalError } from "../../../core/errors.js";
import { lackedColumns, retriedColumns } from "../../../core/columns.js";
import { readableFormats } from "../../../io/formats/registry.js";
import type { FlatSettings } from "../../../jobs/enrich/options.js";

const maxListed = 5;

/** What the settings of a run say about its end. */
type RunSettings = Pick<
  FlatSettings,
  "columns" | "prefix" | "stateDir" | "failOn" | "maxFailed" | "minRows"
> & {
  readonly output: Output;
  readonly json: boolean;
  readonly quiet: boolean;
};

/**
 * Prints the summary as text, or with `--quiet` its warnings, and one if rows failed. JSON is left to
 * the end of the command.
 */
export async function printSummary(
  manifest: Manifest,
  { settings, context }: Pick<CommandCall<RunSettings>, "settings" | "context">,
): Promise<void> {
  const { json, quiet } = settings;
  const warnings = quiet ? [...warningLines(manifest)] : [];
  if (quiet && manifest.exit_code === exitCodes.rowsFailed) {
    warnings.push(countedRows(manifest, settings));
  }
  for (const message of warnings) context.reporter.warning(message);
  if (json || quiet || context.reporter.format === "json") return;
  context.reporter.print(formatSummary(manifest, context.reporter.width ?? 100, settings));
}

/**
 * The result of a finished run as text: a headline, a table of counts and, if rows failed, the command
 * that retries them.
 */
function formatSummary(manifest: Manifest, width: number, settings: RunSettings): string {
  const { input, output, seconds, statuses } = manifest;
  const { malicious, suspicious, listed, none, unknown } = manifest.verdicts;
  // `none` must not read as safe.
  const verdicts = { malicious, suspicious, listed, "none (nothing known)": none, unknown };
  const madeUp = madeUpOf(manifest);
  const advice = retryFailedRows(manifest, settings);
  const speed = seconds > 0 ? ` (${formatSpeed(output.rows / seconds)} rows/s)` : "";
  const { indicators, bytes } = output;
  const written =
    indicators === undefined ? formatCount(output.rows) : counted(indicators, "indicator");
  const size = bytes === null ? "" : ` (${formatBytes(bytes)})`;
  const heldBack = (manifest.exclusions ?? []).map(({ path, rows }) => [path, rows] as const);
  const table: Readonly<Record<string, string | readonly string[]>> = {
    verdict: shareLines(verdicts, input.rows),
    "made up": madeUp === undefined ? "" : madeUpText[madeUp].join(": "),
    rows: `${formatCount(input.rows)} read, ${written} written`,
    "left out": leftOutLines(manifest),
    status: shareLines(statuses, input.rows),
    retried: retriedLines(manifest),
    kinds: list(manifest.kinds),
    requests: requestLines(manifest.requests),
    answers: list(manifest.sources),
    unsupported: list(manifest.unsupported, maxListed),
    "not sent": list(Object.fromEntries(heldBack), maxListed),
    elsewhere: list(manifest.elsewhere ?? {}, maxListed).replace(/.$/, "$& (not looked up)"),
    errors: list(manifest.errors, maxListed),
    tags: list(manifest.tags, maxListed),
    drift: list(manifest.drift, maxListed),
    warnings: warningLines(manifest),
    output: `${output.path ?? "stdout"}${size}`,
    manifest: output.path === null ? "" : manifestPath(shownBase(manifest, output.path, settings)),
  };
  return [
    `repute: ${counted(output.rows, "row")} in ${formatSeconds(seconds)}${speed}`,
    labelled(Object.entries(table), width, "  "),
    ...(advice === null ? [] : [`  ${advice}`]),
  ].join("\n");
}

/** The base of the manifest's name. */
function shownBase(manifest: Manifest, path: string, { output, stateDir }: RunSettings): string {
  // Rows that must not go into a table are in a file.
  if (output.file !== null || isRefusal(manifest.exit_reason)) return path;
  return output.named(startOf(manifest)).base(stateDir);
}

/** Rows left out of the output, and the failed ones among them: `retry` cannot see these. */
function leftOutLines({ left_out }: Manifest): readonly string[] {
  if (left_out === undefined) return [];
  const { only, distinct, statuses } = left_out;
  const parts = [
    ...(only > 0 ? [`${formatCount(only)} with another verdict or status (--only)`] : []),
    ...(distinct > 0 ? [`${formatCount(distinct)} repeated or without an item (--distinct)`] : []),
  ];
  const { failed } = statuses;
  const lost = `${counted(failed, "failed row")} not in the output; add failed to --only to keep them`;
  return [parts.join(", ") || "none", ...(failed > 0 ? [lost] : [])];
}

/** What became of the rows that were failed or partial. */
function retriedLines({ retried }: Manifest): readonly string[] {
  if (retried === undefined) return [];
  const lines = Object.entries(retried).map(
    ([was, now]) => `${was} rows are now ${formatCounts(now, 5)}`,
  );
  return lines.length > 0 ? lines : ["no row was failed or partial"];
}

/** One line per count above zero, with its share of all rows. */
function shareLines(all: Readonly<Record<string, number>>, rows: number): readonly string[] {
  const counts = Object.entries(all).filter(([, count]) => count > 0);
  const wide = Math.max(0, ...counts.map(([, count]) => formatCount(count).length));
  const longestName = Math.max(0, ...counts.map(([name]) => name.length));
  return counts.map(
    ([name, count]) =>
      `${name.padEnd(longestName)}  ${formatCount(count).padStart(wide)}  ${formatPercent(count, rows).padStart(6)}`,
  );
}

function requestLines(requests: Readonly<Record<string, RequestCounts>>): readonly string[] {
  return Object.entries(requests)
    .filter(([, counts]) => counts.total > 0)
    .map(([endpoint, counts]) => {
      const outcomes = formatCounts(counts.outcomes, 10, ": ");
      return `${endpoint} ${formatCount(counts.total)}${outcomes === "" ? "" : ` (${outcomes})`}`;
    });
}

function warningLines({ warnings, warned_rows: rows }: Manifest): readonly string[] {
  const entries = Object.entries(warnings).sort(([, m], [, n]) => n - m);
  const rest = entries.length - maxListed;
  return [
    ...entries
      .slice(0, maxListed)
      .map(([message, count]) => countedWarning(message, count, rows[message])),
    ...(rest > 0 ? [`${formatCount(rest)} more`] : []),
  ];
}

/** The most frequent entries on one line; "" if there are none. */
function list(counts: Readonly<Record<string, number>>, most = 10): string {
  return oneLine(formatCounts(counts, most));
}

/** One line about the rows that `--fail-on` counts: how many, the most common code, what to do. */
function countedRows(manifest: Manifest, settings: RunSettings): string {
  const found = settings.failOn.statuses.filter((status) => manifest.statuses[status] > 0);
  const counts = found.map((status) => `${formatCount(manifest.statuses[status])} ${status}`);
  const { invalid_item = 0, ...errors } = manifest.errors;
  const codes = {
    ...(found.includes("failed") && errors),
    ...(found.includes("invalid") && { invalid_item }),
    ...(found.includes("unsupported") && manifest.unsupported),
  };
  const [code, times = 0] = Object.entries(codes).toSorted(([, m], [, n]) => n - m)[0] ?? [];
  const often = times === 0 ? "" : `, most often ${code} (${formatCount(times)})`;
  const { columns, prefix } = settings;
  const why = columns?.includes("error") === false ? [] : `${prefix}error in the output says why`;
  const advice = retryFailedRows(manifest, settings) ?? why;
  const rows = `${counts.join(", ")} of ${counted(manifest.input.rows, "row")}${often}`;
  return [rows, advice].flat().join("; ");
}

/**
 * Exit code of a finished run.
 *
 * @throws FatalError if its rows must not replace those of an earlier run
 */
export function exitCodeOfManifest(manifest: Manifest, settings: RunSettings): number {
  const { exit_reason } = manifest;
  if (!isRefusal(exit_reason)) return manifest.exit_code ?? exitCodes.done;
  const output = settings.output.named(startOf(manifest));
  const [what, hint] = refusals[exit_reason](manifest, { ...settings, output });
  const { path } = manifest.output;
  const kept = path === null ? "" : `; the rows are in ${path}, not in ${output.name}`;
  throw new FatalError(exit_reason, what + kept, { hint });
}

const checkExport = "check the export that makes the input";

/** What is wrong with the rows of a run, and what to do. */
const refusals: Readonly<
  Record<Refusal, (manifest: Manifest, settings: RunSettings) => readonly [string, hint: string]>
> = {
  too_many_failed(manifest, settings) {
    const { maxFailed, output: target } = settings;
    const [commonest] = Object.keys(manifest.errors);
    const reason = commonest === undefined ? "" : `, most often ${commonest}`;
    const { rows, failed } = lookedUp(manifest);
    const broken = brokenRows(manifest) === 0 ? "" : " or could not be read";
    const count =
      "rows" in maxFailed
        ? `${formatCount(failed)} (--max-failed allows ${formatCount(maxFailed.rows)})`
        : `${formatCount(failed)} of the ${formatCount(rows)} that were looked up${broken} (--max-failed allows ${maxFailed.percent}%)`;
    const what = `too many rows failed: ${count}${reason}`;
    if (retryableRows(manifest) === 0)
      return [what, `${checkExport}; to accept it, raise --max-failed`];
    // `retry` cannot write a file's rows to a table, so it updates the file.
    const flags = target.isTable ? [] : ["-o", target.given];
    const again = "run it again once the service works, or raise --max-failed";
    return [what, retryAdvice(manifest.output, settings, flags) ?? again];
  },
  nothing_to_look_up({ input, unsupported, errors }) {
    const reasons = formatCounts({ ...unsupported, ...errors }, 3);
    const rows =
      input.rows === 1 ? "the only row cannot" : `none of the ${formatCount(input.rows)} rows can`;
    const hint = `${checkExport}, and the item column; to accept it, add --max-failed 100%`;
    return [`${rows} be looked up: ${reasons}`, hint];
  },
  too_few_rows({ input, earlier_rows: earlier }, { minRows }) {
    const limit = "rows" in minRows ? formatCount(minRows.rows) : `${minRows.percent}%`;
    const before = earlier === undefined ? "" : `, the previous run had ${formatCount(earlier)}`;
    const rows = input.rows === 0 ? "no rows" : `only ${counted(input.rows, "row")}`;
    const hint = `${checkExport}; to accept it, add --min-rows 0`;
    return [`the input has ${rows}${before} (--min-rows ${limit})`, hint];
  },
};

/** How to retry the failed rows of a finished run; null if none can succeed or `retry` can't read them. */
function retryFailedRows(manifest: Manifest, settings: RunSettings): string | null {
  const { output, exit_code } = manifest;
  if (retryableRows(manifest) <= 0 || exit_code !== exitCodes.rowsFailed) return null;
  return retryAdvice(output, settings);
}

/** Number of failed rows in the output that a retry may fix. */
function retryableRows({ statuses, errors, left_out }: Manifest): number {
  return statuses.failed - brokenRows({ errors }) - (left_out?.statuses.failed ?? 0);
}

/** Flags that let other commands find the columns and manifest of a run's output. */
export function readingFlags({ output, prefix, stateDir }: RunSettings): readonly string[] {
  const hasState = stateDir !== undefined && output.isTable;
  return [...prefixFlag(prefix), ...(hasState ? ["--state-dir", stateDir] : [])];
}

/** How to retry the failed rows of an output; null if `retry` can't read its format, or misses columns. */
function retryAdvice(
  { path, format }: Manifest["output"],
  { columns: only, prefix }: RunSettings,
  flags: readonly string[] = [],
): string | null {
  if (path === null || !readableFormats.includes(format)) return null;
  if (lackedColumns(retriedColumns, { only }).length > 0) return null;
  const words = [path, ...flags, ...prefixFlag(prefix)].map(shellWord);
  return `to retry the failed rows: repute retry ${words.join(" ")}`;
}

function prefixFlag(prefix: string): readonly string[] {
  return prefix === "rep_" ? [] : ["--prefix", prefix];
}
