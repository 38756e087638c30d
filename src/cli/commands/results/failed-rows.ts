import { rowCodes } from "../../../core/row-codes.js";
import { FatalError } from "../../../core/errors.js";
import { namedAfter, startOf } from "../../../core/files/output-names.js";
import type { Manifest } from "../../../core/manifest/manifest.js";
import { counted, formatCount, shellWord } from "../../../core/text/quantity.js";
import { earlierFormats } from "../../../formats/registry.js";
import { findWarehouse } from "../../../outputs/registry.js";
import { type FailOn, lookedUp } from "../../../run/failure-limits.js";
import type { FlatSettings } from "../../../run/options.js";
import { exitCodeOfRun, exitCodes } from "../../exit-code.js";

/** One line about the rows that `--fail-on` counts: how many, the commonest code, what to do. */
export function countedRows(
  manifest: Manifest,
  { statuses }: FailOn,
  settings: RetrySettings,
): string {
  const found = statuses.filter((status) => manifest.statuses[status] > 0);
  const counts = found.map((status) => `${formatCount(manifest.statuses[status])} ${status}`);
  const of = `of ${counted(rowsCounted(manifest), "row")}`;
  const commonest = commonestCode(manifest, statuses);
  const often = commonest === null ? "" : `, most often ${commonest[0]} (${commonest[1]})`;
  const partial = "to complete partial rows, use repute retry";
  const remedy = commonest === null ? partial : remedyOf(commonest[0]);
  return `${counts.join(", ")} ${of}${often}; ${retryFailedRows(manifest, settings) ?? remedy}`;
}

function commonestCode(
  { errors, unsupported }: Manifest,
  statuses: FailOn["statuses"],
): readonly [code: string, count: string] | null {
  const { invalid_item: invalid = 0, ...failed } = errors;
  const codes = [
    ...Object.entries(statuses.includes("failed") ? failed : {}),
    ...(statuses.includes("invalid") ? [["invalid_item", invalid] as const] : []),
    ...Object.entries(statuses.includes("unsupported") ? unsupported : {}),
  ];
  const [code, count] = codes.reduce((one, other) => (other[1] > one[1] ? other : one), ["", 0]);
  return count === 0 ? null : [code, formatCount(count)];
}

function remedyOf(code: string): string {
  const name = /^http_\d+$/.test(code) ? "http_NNN" : code;
  const entries: Readonly<Record<string, readonly string[]>> = rowCodes;
  return entries[name]?.[1] ?? "see rep_error in the output";
}

type LimitSettings = Pick<FlatSettings, "output" | "prefix" | "maxFailed" | "tagIps">;

/**
 * Exit code of a run whose rows are done.
 *
 * @throws FatalError `too_many_failed` if more rows failed than `--max-failed` allows
 */
export function exitCodeOfManifest(
  manifest: Manifest,
  { output, ...settings }: LimitSettings & { readonly failOn: FailOn },
): number {
  if (manifest.exit_reason !== "too_many_failed") {
    return exitCodeOfRun(settings.failOn, manifest.statuses);
  }
  const named = namedAfter(output, startOf(manifest));
  throw tooManyFailedError(manifest, { ...settings, output: named });
}

/** Explains a run that ended with more failed rows than `--max-failed` allows. */
function tooManyFailedError(manifest: Manifest, settings: LimitSettings): FatalError {
  const [commonest] = Object.keys(manifest.errors);
  const reason = commonest === undefined ? "" : `, most often ${commonest}`;
  const skipped = settings.tagIps === undefined ? "" : "; no tag lists were exported";
  const message = `too many rows failed: ${failedText(manifest, settings)}${reason}${kept(manifest, settings)}${skipped}`;
  return new FatalError("too_many_failed", message, { hint: hintFor(manifest, settings) });
}

function failedText(manifest: Manifest, { maxFailed }: LimitSettings): string {
  if ("rows" in maxFailed) {
    return `${formatCount(manifest.statuses.failed)} (--max-failed allows ${formatCount(maxFailed.rows)})`;
  }
  const { rows, failed } = lookedUp(manifest);
  return `${formatCount(failed)} of the ${formatCount(rows)} that were looked up (--max-failed allows ${maxFailed.percent}%)`;
}

function kept({ output }: Manifest, settings: LimitSettings): string {
  if (output.path === null) return "";
  return `; the rows are in ${output.path}, and ${findWarehouse(settings.output)?.target.display ?? settings.output} is unchanged`;
}

function hintFor({ output }: Manifest, { output: target, prefix }: LimitSettings): string {
  const again = "run it again once the service works, or raise --max-failed";
  // A table takes no rows of a file, which is then filled in itself.
  const isFile = target !== null && !isTable(target);
  return retryAdvice(output, [...(isFile ? ["-o", target] : []), ...prefixFlag(prefix)]) ?? again;
}

interface RetrySettings {
  readonly prefix: string;
  readonly stateDir?: string | undefined;
}

/** How to retry the failed rows of a finished run; null if there are none or `retry` can't read them. */
export function retryFailedRows(
  { run_id, output, statuses, left_out, exit_code }: Manifest,
  settings: RetrySettings,
): string | null {
  const written = statuses.failed - (left_out?.statuses.failed ?? 0);
  if (written === 0 || exit_code !== exitCodes.rowsFailed) return null;
  // By the time somebody reads this, a later run may be in the table.
  const run = isTable(output.path ?? "") ? ["--run", run_id] : [];
  return retryAdvice(output, [...run, ...readingFlags(output.path, settings)]);
}

/** The flags with which other commands find the columns and the manifest of a run's output. */
export function readingFlags(
  output: string | null,
  { prefix, stateDir }: RetrySettings,
): readonly string[] {
  const hasState = stateDir !== undefined && output !== null && isTable(output);
  return [...prefixFlag(prefix), ...(hasState ? ["--state-dir", stateDir] : [])];
}

/** How to retry the failed rows of an output; null if `retry` cannot read its format. */
function retryAdvice(
  { path, format }: Manifest["output"],
  flags: readonly string[],
): string | null {
  if (path === null) return null;
  if (![...earlierFormats, "parquet"].includes(format) && !isTable(path)) return null;
  return `to retry the failed rows: repute retry ${[path, ...flags].map(shellWord).join(" ")}`;
}

function isTable(output: string): boolean {
  return (findWarehouse(output)?.rows ?? null) !== null;
}

function prefixFlag(prefix: string): readonly string[] {
  return prefix === "rep_" ? [] : ["--prefix", prefix];
}

/** Rows that were looked up, and counted by status and verdict. */
export function rowsCounted({ input, skipped = 0 }: Manifest): number {
  return input.rows - skipped;
}
