import type { Finding, JsonObject } from "../../core/finding.js";

/**
 * What speaks against an item: its intent as the service named it, or at least a place on the mail
 * blocklist.
 */
export type Verdict = "malicious" | "suspicious" | "listed";

/**
 * What a finding says against its item, by query and quick check together, the graver one; null
 * when it says nothing. That is no acquittal: `none` and `NOT_LISTED` mean that nothing is known,
 * `unknown` that something was seen whose intent is not, and `ALLOWLIST` speaks of mail alone.
 * `PASSIVE` and `INFORMATIONAL` entries of the blocklist are no accusation either.
 */
export function verdictOf({ query, quickCheck }: Finding): Verdict | null {
  if (has(query, quickCheck, "intent", "malicious")) return "malicious";
  if (has(query, quickCheck, "intent", "suspicious")) return "suspicious";
  const listed =
    has(query, quickCheck, "serviceMailBlocklist", "ACTIVE") ||
    has(query, quickCheck, "abusixMailBlocklist", "ACTIVE");
  return listed ? "listed" : null;
}

function has(
  one: JsonObject | null,
  other: JsonObject | null,
  member: string,
  value: string,
): boolean {
  return one?.[member] === value || other?.[member] === value;
}
