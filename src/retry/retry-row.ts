import {
  type Finding,
  type FindingStatus,
  type LookupEndpoint,
  verdictOf,
  verdicts,
} from "../core/finding.js";
import type { EarlierRow } from "../earlier/earlier-row.js";
import type { Lookup } from "../lookup/types.js";
import type { StartRow } from "../run/rows/row-handling.js";
import { withKept } from "./kept-answers.js";

/** Which rows of an earlier output to look up again. */
export interface RowsToRetry {
  /** Of a table: `rep_run_id` of the rows. @default the newest run */
  readonly run?: string | null;
  /** Prefix of the added columns. @default the one that the manifest notes */
  readonly prefix?: string | undefined;
}

/** Looks up the failed and partial rows of an earlier output; a worse answer changes nothing. */
export function retryStart(lookup: Lookup): StartRow {
  return (row, signal) => {
    const before = row as EarlierRow;
    const { item, earlier } = before;
    if (item === null || !shouldRetry(before)) return { item, finding: earlier };
    const asked = lookup(item, { signal, row: row.number }).then((now) => withKept(before, now));
    return { item, finding: asked.then((now) => (isNoWorse(earlier, now) ? now : earlier)) };
  };
}

/** True if another lookup may improve the row. */
function shouldRetry({ item, earlier }: EarlierRow): boolean {
  return item !== null && (earlier.status === "failed" || earlier.status === "partial");
}

/** True if the new finding tells at least as much as the earlier one. */
export function isNoWorse(earlier: Finding, now: Finding): boolean {
  if (rank[now.status] < rank[earlier.status]) return false;
  const isWhole = now.status !== "failed" && now.status !== "partial";
  if (isWhole) return true;
  if (verdictOf(now) === null && verdictOf(earlier) !== null) return false;
  // A failed row can still hold the answer of one of its two lookups.
  const endpoints = Object.keys(earlier.answers) as LookupEndpoint[];
  if (endpoints.some((endpoint) => now.answers[endpoint] === undefined)) return false;
  if (endpoints.includes("query") && now.missing.length > earlier.missing.length) return false;
  return now.status === "partial" || severity(now) >= severity(earlier);
}

/** Ranks verdicts. */
function severity(finding: Finding): number {
  const verdict = verdictOf(finding);
  return verdict === null ? 0 : verdicts.length - verdicts.indexOf(verdict);
}

const rank: Readonly<Record<FindingStatus, number>> = {
  complete: 3,
  partial: 2,
  invalid: 1,
  unsupported: 0,
  failed: 0,
};
