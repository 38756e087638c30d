import type { Finding, JsonObject } from "./finding.js";

/** What the answers say about an item, gravest first. `none` means that nothing is known. */
export const verdicts = ["malicious", "suspicious", "listed", "none"] as const;

export type Verdict = (typeof verdicts)[number];

/** A verdict that speaks against the item. */
export type Accusation = Exclude<Verdict, "none">;

/**
 * The graver verdict of query and quick check; null when neither answered.
 *
 * `none` never means safe: `intent: none` and `NOT_LISTED` say that nothing is known, `unknown` that
 * the intent of what was seen is not, and `ALLOWLIST` is about mail only. `PASSIVE` and
 * `INFORMATIONAL` listings accuse nobody.
 */
export function verdictOf({ answers }: Finding): Verdict | null {
  const query = answers.query?.result;
  const quickCheck = answers["quick-check"]?.result;
  if (query === undefined && quickCheck === undefined) return null;
  const intent = query?.["intent"];
  const quickIntent = quickCheck?.["intent"];
  if (intent === "malicious" || quickIntent === "malicious") return "malicious";
  if (intent === "suspicious" || quickIntent === "suspicious") return "suspicious";
  return isListed(query) || isListed(quickCheck) ? "listed" : "none";
}

/** The verdict when it speaks against the item, else null. */
export function accusationIn(verdict: Verdict | null): Accusation | null {
  return verdict === "none" ? null : verdict;
}

/** The interface documents the first name; deployed services also use the second. */
function isListed(result: JsonObject | undefined): boolean {
  return (
    result?.["serviceMailBlocklist"] === "ACTIVE" || result?.["abusixMailBlocklist"] === "ACTIVE"
  );
}
