import type { Finding } from "./finding.js";
import type { Item } from "./item/item.js";
import { verdictOf } from "./verdict.js";
import type { Verdict } from "./verdict.js";

/** The members of nested output, in their order (behaviour: Columns). */
export function nestedFacts(
  item: Item | null,
  finding: Finding,
  verdict: Verdict | null = verdictOf(finding),
) {
  return {
    item: item?.value ?? null,
    kind: item?.kind ?? null,
    status: finding.status,
    verdict,
    missing: finding.missing,
    query: finding.query,
    quick_check: finding.quickCheck,
    source: item === null ? null : finding.source,
    http_status: finding.httpStatus,
    attempts: finding.attempts,
    looked_up_at: finding.lookedUpAt,
    error: finding.error,
  };
}
