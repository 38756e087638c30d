import { errorAreas } from "../../../core/error-codes.js";
import { counted, formatCount } from "../../../core/text/quantity.js";
import type { FailOn } from "../../../run/failure-limits.js";
import type { Manifest } from "../../../core/manifest.js";
import { retryFailedRows } from "./retry-advice.js";

/** One line about the rows that `--fail-on` counts: how many, the commonest code, what to do. */
export function countedRows(manifest: Manifest, { statuses }: FailOn, prefix: string): string {
  const found = statuses.filter((status) => manifest.statuses[status] > 0);
  const counts = found.map((status) => `${formatCount(manifest.statuses[status])} ${status}`);
  const of = `of ${counted(manifest.output.rows, "row")}`;
  const commonest = commonestCode(manifest, statuses);
  const often = commonest === null ? "" : `, most often ${commonest[0]} (${commonest[1]})`;
  const partial = "to complete partial rows, use repute retry";
  const remedy = commonest === null ? partial : remedyOf(commonest[0]);
  return `${counts.join(", ")} ${of}${often}; ${retryFailedRows(manifest, prefix) ?? remedy}`;
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
  const entries = Object.values(errorAreas).flatMap((area) =>
    Object.entries<readonly [meaning: string, remedy: string, ...rest: string[]]>(area),
  );
  return entries.find(([each]) => each === name)?.[1][1] ?? "see rep_error in the output";
}
