import { endpoints } from "../../core/endpoints/endpoints.js";
import {
  type Finding,
  type FindingStatus,
  type JsonObject,
  type LookupAnswer,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
  unasked,
  verdicts,
} from "../../core/finding.js";
import { verdictOf } from "../../core/verdict.js";
import { asObject } from "../../core/json-members.js";
import { recogniseItem } from "../../core/item/recognise.js";
import { combineFindings } from "../../client/lookup/combine.js";
import { type EarlierRow, earlierResult } from "../../io/output/read/earlier-row.js";
import type { Lookup } from "../../client/lookup/types.js";
import type { StartRow } from "../enrich/rows/row-handling.js";

/** Looks up the failed and partial rows of an earlier output; a worse answer changes nothing. */
export function retryStart(lookup: Lookup): StartRow {
  return (row, signal) => {
    const before = row as EarlierRow;
    const { item, earlier } = before;
    if (item === null || !shouldRetry(before)) return { item, finding: earlier };
    // Another program, or an earlier version, may have written what must not be sent.
    const { item: sendable, reason } = recogniseItem(item.value, item.kind);
    if (sendable === null) return { item: null, finding: unasked("unsupported", reason) };
    const asked = lookup(sendable, { signal, row: row.number });
    const finding = asked
      .then((now) => withKept(before, now))
      .then((now) => (isNoWorse(earlier, now) ? now : earlier));
    return { item: sendable, finding };
  };
}

/** Adds the answers of an earlier row whose lookups were not retried. */
function withKept(row: EarlierRow, now: Finding): Finding {
  const { earlier } = row;
  // A lookup that failed again was retried.
  if (now.status !== "complete" && now.status !== "partial") return now;
  let whole = now;
  for (const endpoint of lookupEndpoints) {
    if (earlier.answers[endpoint] === undefined || now.answers[endpoint] !== undefined) continue;
    const missing = missingIn(earlier, endpoint);
    const kept: Finding = {
      ...unasked(missing.length > 0 ? "partial" : "complete", null),
      answers: { [endpoint]: keptAnswer(row, endpoint) },
      missing,
      source: now.source,
      httpStatus: missing.length > 0 ? 503 : 200,
    };
    const isFirst =
      lookupEndpoints.find((name) => name === endpoint || whole.answers[name]) === endpoint;
    whole = isFirst ? combineFindings(kept, whole) : combineFindings(whole, kept, endpoint);
  }
  return whole;
}

/** The result as received, where the output has it, or what its columns say. */
function keptAnswer({ record, earlier }: EarlierRow, endpoint: LookupEndpoint): LookupAnswer {
  const text = record.text(memberOf(endpoint));
  const received = parsed(text);
  if (received !== null) return { result: received, text };
  return { result: earlierResult(record, endpoint, missingIn(earlier, endpoint)) };
}

/** Members that an answer of an earlier row lacks: only some endpoints have partial answers. */
function missingIn({ missing }: Finding, endpoint: LookupEndpoint): readonly string[] {
  return endpoints[endpoint].partial === null ? [] : missing;
}

function parsed(text: string): JsonObject | null {
  try {
    return text === "" ? null : asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

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
  const answered = lookupEndpoints.filter((endpoint) => earlier.answers[endpoint] !== undefined);
  if (answered.some((endpoint) => now.answers[endpoint] === undefined)) return false;
  const hasPartial = answered.some((endpoint) => endpoints[endpoint].partial !== null);
  if (hasPartial && now.missing.length > earlier.missing.length) return false;
  return now.status === "partial" || severity(now) >= severity(earlier);
}

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
