import { z } from "zod";
import {
  type EndpointSpec,
  mailBlocklist,
  type Result,
  shows,
  showsBlocklist,
  openEnum,
} from "./endpoint.js";
import type { ObservedActivity, QueryResult } from "./query.js";

/**
 * Result of `/quick-check/{item}`. The specification doesn't say which members may be null or absent,
 * so every member except `item` may be.
 */
const quickCheckResultSchema = z.looseObject({
  item: z.string(),
  serviceMailBlocklist: openEnum.nullish(),
  type: openEnum.nullish(),
  bogon: z.boolean().nullish(),
  intent: openEnum.nullish(),
  activity: z.boolean().nullish(),
});

export type QuickCheckResult = z.infer<typeof quickCheckResultSchema>;

/** `/quick-check/{item}`: the part of a query that decides. */
export const quickCheck = {
  title: "quick check",
  result: quickCheckResultSchema,
  partial: null,
  schemaFor: () => quickCheckResultSchema,
  columns: [
    showsBlocklist("quick_mail_blocklist", "Mail blocklist status, from the quick check"),
    shows("text", "quick_intent", "Intent, from the quick check", "intent"),
    shows(
      "bool",
      "quick_bogon",
      "The address is in a reserved range, from the quick check",
      "bogon",
    ),
    shows("bool", "quick_activity", "Activity was observed, from the quick check", "activity"),
  ],
  shownBy: ["quick_mail_blocklist", "quick_intent", "quick_activity"],
  clears: hasAll,
  answerFrom: (known) => quickCheckOf(known as QueryResult),
} as const satisfies EndpointSpec;

const typesWithoutIntent: ReadonlySet<unknown> = new Set(["URL", "SHA1", "CRYPTO_WALLET", "EMAIL"]);

/** Whether it has what a verdict needs: any member but `item` may be null. */
function hasAll(result: Result): boolean {
  const { bogon, type, intent } = result;
  if (bogon === true) return true;
  const hasIntent = (intent ?? null) !== null || typesWithoutIntent.has(type);
  return hasIntent && mailBlocklist(result) !== null;
}

function quickCheckOf(result: QueryResult): QuickCheckResult {
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
