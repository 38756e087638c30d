import type { ErrorCode } from "../core/error-codes.js";
import {
  type Finding,
  type FindingStatus,
  findingStatuses,
  type JsonObject,
  type LookupEndpoint,
  unasked,
  type Verdict,
  verdictOf,
  verdicts,
} from "../core/finding.js";
import { type Item, itemKinds } from "../core/item/item.js";
import type { Row } from "../core/row.js";
import { answeredLookups } from "../formats/answered-lookups.js";
import type { EarlierRecord } from "../formats/types.js";

/** A record of an earlier output, with its text. */
export interface EarlierRow extends Row {
  /** The record verbatim, including its line ending. */
  readonly text: string;
  /** All that the record says. */
  readonly record: EarlierRecord;
  readonly item: Item | null;
  /** The earlier finding, with what is needed to count it. */
  readonly earlier: Finding;
}

/** Rebuilds the earlier finding. @returns null if its status or verdict is unknown */
export function earlierFinding(record: EarlierRecord): Finding | null {
  const status = findingStatuses.find((known) => known === record.text("status"));
  const verdict = verdicts.find((known) => known === record.text("verdict"));
  if (status === undefined || (verdict === undefined && record.text("verdict") !== "")) return null;
  const source = sources.find((known) => known === record.text("source")) ?? "local";
  return {
    ...unasked(
      status,
      record.text("error_code") === ""
        ? null
        : { code: record.text("error_code") as ErrorCode, message: record.text("error") },
    ),
    answers: answersOf(record, verdict === undefined ? {} : leastAnswer[verdict]),
    missing: record.list("missing"),
    source,
  };
}

/** Results of the endpoints that answered: enough to tell the verdict, and to count the tags. */
function answersOf(record: EarlierRecord, least: JsonObject): Finding["answers"] {
  const result = { tags: record.list("tags"), ...least };
  return Object.fromEntries(answeredLookups(record).map((endpoint) => [endpoint, { result }]));
}

/** The smallest answer that yields each verdict. */
const leastAnswer: Readonly<Record<Verdict, JsonObject>> = {
  malicious: { intent: "malicious" },
  suspicious: { intent: "suspicious" },
  listed: { serviceMailBlocklist: "ACTIVE" },
  none: { intent: "none", serviceMailBlocklist: "NOT_LISTED" },
};

/** The item that was looked up, or null if there was none. */
export function earlierItem(record: EarlierRecord): Item | null {
  const kind = itemKinds.find((known) => known === record.text("kind"));
  return kind === undefined || record.text("item") === ""
    ? null
    : { kind, value: record.text("item") };
}

/** True if another lookup may improve the row. */
export function shouldRetry({ item, earlier }: EarlierRow): boolean {
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

const sources = ["live", "cache", "duplicate", "local"] as const;
