import type {
  ObservedActivity,
  QueryResult,
  QuickCheckResult,
} from "../api/schema/query-result.js";

export function quickCheckOf(result: QueryResult): QuickCheckResult {
  const { item, type } = result;
  if (result.type === "IP_BOGON") {
    const serviceMailBlocklist = "NOT_LISTED";
    return { item, serviceMailBlocklist, type, bogon: true, intent: "none", activity: false };
  }
  return {
    item,
    serviceMailBlocklist: result.serviceMailBlocklist ?? "NOT_LISTED",
    type,
    bogon: false,
    intent: intentOf(result),
    activity: "observedActivity" in result && wasActive(result.observedActivity),
  };
}

/** Kinds without an `intent` member derive it from the blocklist. */
function intentOf(result: Exclude<QueryResult, { type: "IP_BOGON" }>): string {
  if ("intent" in result) return (result.intent as string | null) ?? "unknown";
  return result.serviceMailBlocklist === "ACTIVE" ? "malicious" : "none";
}

function wasActive(activity: unknown): boolean {
  const observed = activity as ObservedActivity | null;
  if (observed === null) return false;
  return (
    observed.honeypotInteractions.lastSeen !== null ||
    observed.spamtrapInteractions.lastSeen !== null
  );
}
