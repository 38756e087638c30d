import { type Finding, lookupEndpoints, memberOf } from "./finding.js";
import type { Item } from "./item/item.js";
import { verdictOf } from "./verdict.js";
import type { Verdict } from "./verdict.js";

/** The members of nested output, in their order. */
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

/** Nested members as JSON text, in which results stand as they were received where their text is kept. */
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

/** Each endpoint with the member that has its result. */
const slots = lookupEndpoints.map((endpoint) => ({ endpoint, member: memberOf(endpoint) }));
