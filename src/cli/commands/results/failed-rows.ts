import { rowCodes } from "../../../core/row-codes.js";
import { FatalError } from "../../../core/errors.js";
import { startOf } from "../../../core/files/output-names.js";
import { isRefusal, type Manifest, type Refusal } from "../../../core/manifest.js";
import { counted, formatCount, formatCounts, shellWord } from "../../../core/wording/quantity.js";
import { readableFormats } from "../../../io/formats/registry.js";
import type { Output } from "../../../io/output/output.js";
import { brokenRows, type FailOn, lookedUp } from "../../../jobs/enrich/failure-limits.js";
import type { FlatSettings } from "../../../jobs/enrich/options.js";
import { exitCodeOfRun, exitCodes } from "../../../jobs/enrich/ending.js";

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

type LimitSettings = Pick<FlatSettings, "prefix" | "maxFailed" | "minRows" | "tagIps"> & {
  readonly output: Output;
  readonly report?: string | undefined;
};

/**
 * Exit code of a run whose rows are done.
 *
 * @throws FatalError if they must not replace those of an earlier run
 */
export function exitCodeOfManifest(
  manifest: Manifest,
  { output, ...settings }: LimitSettings & { readonly failOn: FailOn },
): number {
  const { exit_reason } = manifest;
  if (!isRefusal(exit_reason)) return exitCodeOfRun(settings.failOn, manifest.statuses);
  const named = { ...settings, output: output.named(startOf(manifest)) };
  const what = refusalText[exit_reason](manifest, settings);
  const broken = manifest.first_broken === undefined ? "" : `; first, ${manifest.first_broken}`;
  const unmade = [
    ...(settings.report === undefined ? [] : ["no report was made"]),
    ...(settings.tagIps === undefined ? [] : ["no tag lists were exported"]),
  ].map((text) => `; ${text}`);
  const message = `${what}${broken}${kept(manifest, named)}${unmade.join("")}`;
  throw new FatalError(exit_reason, message, { hint: hintFor(manifest, named) });
}

const refusalText: Readonly<
  Record<
    Refusal,
    (manifest: Manifest, settings: LimitSettings | Omit<LimitSettings, "output">) => string
  >
> = {
  too_many_failed(manifest, { maxFailed }) {
    const [commonest] = Object.keys(manifest.errors);
    const reason = commonest === undefined ? "" : `, most often ${commonest}`;
    const { rows, failed } = lookedUp(manifest);
    const broken = brokenRows(manifest) === 0 ? "" : " or could not be read";
    const count =
      "rows" in maxFailed
        ? `${formatCount(failed)} (--max-failed allows ${formatCount(maxFailed.rows)})`
        : `${formatCount(failed)} of the ${formatCount(rows)} that were looked up${broken} (--max-failed allows ${maxFailed.percent}%)`;
    return `too many rows failed: ${count}${reason}`;
  },
  nothing_to_look_up({ input, unsupported, errors }) {
    const reasons = formatCounts({ ...unsupported, ...errors }, 3);
    const rows =
      input.rows === 1 ? "the only row cannot" : `none of the ${formatCount(input.rows)} rows can`;
    return `${rows} be looked up: ${reasons}`;
  },
  too_few_rows({ input, earlier_rows: earlier }, { minRows }) {
    const limit = "rows" in minRows ? formatCount(minRows.rows) : `${minRows.percent}%`;
    const before = earlier === undefined ? "" : `, the run before had ${formatCount(earlier)}`;
    return `the input has ${input.rows === 0 ? "no rows" : `only ${counted(input.rows, "row")}`}${before} (--min-rows ${limit})`;
  },
};

function kept({ output }: Manifest, settings: LimitSettings): string {
  if (output.path === null) return "";
  return `; the rows are in ${output.path}, not in ${settings.output.name}`;
}

function hintFor(manifest: Manifest, { output: target, prefix }: LimitSettings): string {
  const { exit_reason, output } = manifest;
  const check = "check the export that makes the input";
  if (exit_reason === "too_few_rows") return `${check}; to accept it, add --min-rows 0`;
  if (exit_reason === "nothing_to_look_up") {
    return `${check}, and the item column; to accept it, add --max-failed 100%`;
  }
  if (mendableRows(manifest) === 0) return `${check}; to accept it, raise --max-failed`;
  const again = "run it again once the service works, or raise --max-failed";
  // A table takes no rows of a file, which is then filled in itself.
  return (
    retryAdvice(output, [...(target.isTable ? [] : ["-o", target.given]), ...prefixFlag(prefix)]) ??
    again
  );
}

interface RetrySettings {
  readonly prefix: string;
  readonly stateDir?: string | undefined;
}

/** How to retry the failed rows of a finished run; null if that mends none or `retry` can't read them. */
export function retryFailedRows(manifest: Manifest, { prefix }: RetrySettings): string | null {
  const { output, exit_code } = manifest;
  if (mendableRows(manifest) <= 0 || exit_code !== exitCodes.rowsFailed) return null;
  return retryAdvice(output, prefixFlag(prefix));
}

/** Number of failed rows in the output that another request can mend. */
function mendableRows({ statuses, errors, left_out }: Manifest): number {
  return statuses.failed - brokenRows({ errors }) - (left_out?.statuses.failed ?? 0);
}

/** The flags with which other commands find the columns and the manifest of a run's output. */
export function readingFlags(
  { isTable }: Output,
  { prefix, stateDir }: RetrySettings,
): readonly string[] {
  const hasState = stateDir !== undefined && isTable;
  return [...prefixFlag(prefix), ...(hasState ? ["--state-dir", stateDir] : [])];
}

/** How to retry the failed rows of an output; null if `retry` cannot read its format. */
function retryAdvice(
  { path, format }: Manifest["output"],
  flags: readonly string[],
): string | null {
  if (path === null) return null;
  if (!readableFormats.includes(format)) return null;
  return `to retry the failed rows: repute retry ${[path, ...flags].map(shellWord).join(" ")}`;
}

function prefixFlag(prefix: string): readonly string[] {
  return prefix === "rep_" ? [] : ["--prefix", prefix];
}

/** Rows that were looked up, and counted by status and verdict. */
export function rowsCounted({ input }: Manifest): number {
  return input.rows;
}
