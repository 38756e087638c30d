import { type Finding, lookupEndpoints, memberOf, type Verdict } from "./finding.js";
import type { Item } from "./item/item.js";
import { verdictOf } from "./verdict.js";

export function nestedFacts(
  item: Item | null,
  finding: Finding,
  verdict: Verdict | null = verdictOf(finding),
): Record<string, unknown> {
  const facts: Record<string, unknown> = {
    item: item?.value ?? null,
    kind: item?.kind ?? null,
    status: finding.status,
    verdict,
    missing: finding.missing,
  };
  for (const { endpoint, member } of slots) {
    facts[member] = finding.answers[endpoint]?.result ?? null;
  }
  facts["source"] = item === null ? null : finding.source;
  facts["http_status"] = finding.httpStatus;
  facts["attempts"] = finding.attempts;
  facts["looked_up_at"] = finding.lookedUpAt;
  facts["error"] = finding.error;
  return facts;
}

/** Nested members as JSON text. Results are copied as received where their text was kept. */
export function nestedText(facts: Readonly<Record<string, unknown>>, finding: Finding): string {
  const texts: Record<string, string | undefined> = {};
  let isReceived = false;
  for (const { endpoint, member } of slots) {
    const text = finding.answers[endpoint]?.text;
    if (text === undefined) continue;
    texts[member] = text;
    isReceived = true;
  }
  if (!isReceived) return JSON.stringify(facts);
  const members = Object.entries(facts).map(
    ([name, value]) => `"${name}":${texts[name] ?? JSON.stringify(value)}`,
  );
  return `{${members.join(",")}}`;
}

const slots = lookupEndpoints.map((endpoint) => ({ endpoint, member: memberOf(endpoint) }));
