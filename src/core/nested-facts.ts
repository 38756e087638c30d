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

/** Nested members as JSON text, in which results stand as they were received where their text is kept. */
export function nestedText(facts: object, { queryText, quickCheckText }: Finding): string {
  if (queryText === undefined && quickCheckText === undefined) return JSON.stringify(facts);
  const texts: Readonly<Record<string, string | undefined>> = {
    query: queryText,
    quick_check: quickCheckText,
  };
  const members = Object.entries(facts).map(
    ([name, value]) => `"${name}":${texts[name] ?? JSON.stringify(value)}`,
  );
  return `{${members.join(",")}}`;
}
